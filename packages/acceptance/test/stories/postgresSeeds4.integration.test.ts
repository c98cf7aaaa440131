/** Part 4 of the random stories on Postgres. */
import { testPart } from "./postgresSeeds.ts"

testPart(4)
