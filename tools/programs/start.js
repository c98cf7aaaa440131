/**
 * Starts the server, a worker or the command: `node tools/programs/start.js server --json`.
 *
 * This module is JavaScript and enables the compile cache before it imports others. The cache also stores TypeScript
 * modules without their types, so Node loads its compiler, which takes 50 ms, only after one of them has changed.
 */
import { enableCompileCache } from "node:module"
import { join } from "node:path"

// Does nothing where it cannot be written.
enableCompileCache(join(import.meta.dirname, "../../node_modules/.cache/kinora-programs/compiled"))
await import("./run.ts")
