import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type * as Program from "../src/Program.ts"

/** Stops a host, which must not have logged an error, except those of `expected`. */
export const stopSound = Effect.fnUntraced(function*(program: Program.Program, expected?: RegExp) {
  const ended = yield* program.stop
  assert.strictEqual(ended.code, 0)
  const errors = ended.stderr.split("\n").filter((line) =>
    /"level":"(ERROR|FATAL)"/i.test(line) && expected?.test(line) !== true
  )
  assert.deepStrictEqual(errors, [])
  return ended
})
