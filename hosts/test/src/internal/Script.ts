/** The script of new jobs, which a test can replace. */
import { ScriptedGenerator } from "@kinora/generator"
import { Context, Effect, Layer } from "effect"
import type { Script } from "../TestHostOptions.ts"

/** The script of jobs that have not been submitted yet. */
export class CurrentScript extends Context.Service<CurrentScript, {
  readonly set: (script: Script) => Effect.Effect<void>
}>()("@kinora/host-test/internal/Script/CurrentScript") {}

/** A control of the scripted generator, with this script at first. */
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
