/** The script of new jobs, which a test can replace. */
import { GeneratorError, ScriptedGenerator } from "@kinora/generator"
import { Context, Effect, Layer } from "effect"
import type { Failure, JobScript, Script } from "../TestHostOptions.ts"

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
        script: (request) => generatorScript(typeof script === "function" ? script(request) : script)
      })
    )
  })

/** The error of a failure. */
export const toError = (
  { code = "generation_failed", message = "The test failed this job.", reason = "provider" }: Failure = {}
): GeneratorError.Permanent => new GeneratorError.Permanent({ code, message, reason })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const generatorScript = ({ failure, ...script }: JobScript): ScriptedGenerator.Script =>
  failure === undefined ? script : { ...script, outcome: toError(failure) }
