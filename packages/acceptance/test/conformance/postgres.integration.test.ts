import { sections } from "./sections.ts"
import { runOnPostgres } from "./Suite.ts"

runOnPostgres(sections)
