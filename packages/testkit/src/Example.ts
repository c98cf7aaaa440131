/** Runs the examples of READMEs. */
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { format, promisify } from "node:util"
import { vi } from "vitest"

/** Returns the lines that a module prints while it is imported, for instance `() => import("../example/memory.ts")`. */
export const printed = (load: () => Promise<unknown>): Effect.Effect<string> =>
  Effect.promise(async () => {
    const log = vi.spyOn(console, "log").mockImplementation(() => {})
    try {
      await load()
      return log.mock.calls.map((values) => format(...values)).join("\n")
    } finally {
      log.mockRestore()
    }
  })

/**
 * Runs a module in a separate process, and returns the lines that it prints. For examples
 * that read environment variables, which Effect's configuration reads once per process.
 */
export const run = (module: URL, environment: Readonly<Record<string, string>>): Effect.Effect<string> =>
  Effect.promise(async () => {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ["--conditions=@kinora/source", fileURLToPath(module)],
      { env: { ...process.env, ...environment }, timeout: runMillisMax }
    )
    return stdout.trimEnd()
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const runMillisMax = 100_000
