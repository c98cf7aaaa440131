/** Controls of the scripted generator. */
import { ScriptedGenerator } from "@kinora/generator"
import { Effect } from "effect"
import type { GeneratorControls } from "../Controls.ts"
import { CurrentScript, toError } from "./Script.ts"

/** The controls of the generator in the context. */
export const make: Effect.Effect<GeneratorControls, never, CurrentScript | ScriptedGenerator.Control> = Effect.gen(
  function*() {
    const control = yield* ScriptedGenerator.Control
    const current = yield* CurrentScript
    return {
      script: current.set,
      hold: current.set({ delay: "hold" }),
      succeed: control.succeed,
      fail: (id, failure) => control.fail(id, toError(failure)),
      started: (id) => Effect.asVoid(control.called("submit", id)),
      calls: control.calls
    }
  }
)
