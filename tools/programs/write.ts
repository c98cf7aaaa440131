/** Bundles the programs that `start.ts` starts. `npm run programs`. */
import { join } from "node:path"
import { bundle } from "./bundle.ts"
import { cache, record } from "./current.ts"

const programs = ["server", "worker", "cli"].map((host) => `hosts/${host}/src/main.ts`)

const startedAt = Date.now()
try {
  // A program that runs for longer loads the modules that it imports late from the bundle of its start.
  record(await bundle({ programs, cache: join(cache, "bundles"), days: 30 }), startedAt)
} catch (cause) {
  process.stderr.write(`The programs are not bundled: ${String(cause)}\n`)
  process.exitCode = 1
}
