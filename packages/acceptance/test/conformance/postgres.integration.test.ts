import { sections } from "./sections.ts"
import { runAgainst } from "./Suite.ts"

runAgainst("Postgres", sections)
