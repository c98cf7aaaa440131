/** The script of new jobs, which a test changes as it goes. */
import { ScriptedGenerator } from "@kinora/generator"
import { Context, Effect, Layer } from "effect"
import type { Script } from "../TestHostOptions.ts"

/** What becomes of jobs that are not handed over yet. */
export class CurrentScript extends Context.Service<CurrentScript, {
  readonly set: (script: Script) => Effect.Effect<void>
}>()("@kinora/host-test/internal/Script/CurrentScript") {}

/** A control of the scripted generator whose script begins with this one. */
export const layer = (first: Script): Layer.Layer<CurrentScript | ScriptedGenerator.Control> =>
  Layer.suspend(() => {
    let script = first
    return Layer.mergeAll(
      Layer.succeed(CurrentScript, {
        set: (next) =>
          Effect.sync(() => {
            script = next
          })
      }),
      ScriptedGenerator.layerControl({
        script: (request) => typeof script === "function" ? script(request) : script
      })
    )
  })
