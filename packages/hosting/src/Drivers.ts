/** The generators that a model's configuration can name. */
import { Generators, ScriptedGenerator } from "@kinora/generator"
import { ProceduralGenerator } from "@kinora/generator-procedural"
import type { GenerationRequest } from "@kinora/generator/GenerationRequest"
import { FailureCode, Permanent } from "@kinora/generator/GeneratorError"
import { Layer, Option, Schema } from "effect"

/**
 * `procedural` paints without a model. `scripted` makes nothing but files of a
 * size after a time, for drills: its options say which.
 */
export const layer = Generators.layer({
  procedural: ProceduralGenerator.layer(),
  scripted: ScriptedGenerator.layer.pipe(
    Layer.provide(Layer.suspend(() => ScriptedGenerator.layerControl({ script: scriptOf, pollInterval: "100 millis" })))
  )
})

/** `driver.options` of a model whose driver is `scripted`. */
export const ScriptedOptions = Schema.Struct({
  /** From the start to the outcome, written `5 seconds`. Default: none. */
  delay: Schema.optionalKey(Schema.DurationFromString),
  /** Every job fails with this code. Default: it succeeds. */
  failure: Schema.optionalKey(FailureCode),
  /** Size of the result. */
  bytes: Schema.optionalKey(Schema.Int)
})

/** What the options of a request's model say. With wrong ones every job fails. */
export const scriptOf = ({ model }: GenerationRequest): ScriptedGenerator.Script =>
  Option.match(decodeOptions(model.options), {
    onNone: () => ({ outcome: failureOf("invalid_input") }),
    onSome: ({ bytes, delay, failure }) => ({
      delay,
      bytes,
      outcome: failure === undefined ? "succeed" : failureOf(failure)
    })
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const decodeOptions = Schema.decodeUnknownOption(ScriptedOptions)

const failureOf = (code: typeof FailureCode.Type) =>
  new Permanent({ code, reason: null, message: "The script of this model says that its jobs fail." })
