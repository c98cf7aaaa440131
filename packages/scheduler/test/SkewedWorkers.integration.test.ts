import { TestDatabase } from "@kinora/testkit"
import { over } from "./Fixture.ts"
import { suite } from "./SkewedWorkersContract.ts"

for (const [name, database] of TestDatabase.all) suite(name, over(database))
