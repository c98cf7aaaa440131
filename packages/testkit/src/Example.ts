/** Runs the examples of READMEs. */
import { Effect } from "effect"
import { format } from "node:util"
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
