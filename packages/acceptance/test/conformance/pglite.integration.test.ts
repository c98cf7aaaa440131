import { sections } from "./sections.ts"
import { runOnPglite } from "./Suite.ts"

runOnPglite(sections)
