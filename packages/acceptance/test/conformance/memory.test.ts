import { sections } from "./sections.ts"
import { runInMemory } from "./Suite.ts"

runInMemory(sections)
