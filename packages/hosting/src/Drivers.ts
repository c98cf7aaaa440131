/** The generators that a model's configuration can name. */
import { Catalog, type Model } from "@kinora/catalog"
import { Generators, ScriptedGenerator } from "@kinora/generator"
import { ProceduralGenerator } from "@kinora/generator-procedural"
import type { GenerationRequest } from "@kinora/generator/GenerationRequest"
import { FailureCode, Permanent } from "@kinora/generator/GeneratorError"
import { Data, Effect, Layer, Option, Schema } from "effect"

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

/** What no driver of this process can make. A start stops here, with a line for each. */
export class UnservableModels extends Data.TaggedError("UnservableModels")<{
  readonly problems: ReadonlyArray<{ readonly model: string; readonly problem: string }>
}> {
  override get message(): string {
    return this.problems.map(({ model, problem }) => `The model ${model} ${problem}`).join("\n")
  }
}

/** Fails unless every model that is not withdrawn can be made by the driver that it names. */
export const check = Effect.gen(function*() {
  const catalog = yield* Catalog.Catalog
  const { names } = yield* Generators.Generators
  const problems = catalog.list.flatMap((model) =>
    problemsOf(model, names).map((problem) => ({ model: model.id, problem }))
  )
  if (problems.length > 0) return yield* new UnservableModels({ problems })
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const decodeOptions = Schema.decodeUnknownOption(ScriptedOptions)

const failureOf = (code: typeof FailureCode.Type) =>
  new Permanent({ code, reason: null, message: "The script of this model says that its jobs fail." })

const problemsOf = (
  { driver, max_reference_images }: Model.Model,
  names: ReadonlyArray<string>
): ReadonlyArray<string> => {
  if (!names.includes(driver.name)) {
    return [`names the driver ${JSON.stringify(driver.name)}; there are ${names.join(", ")}`]
  }
  return [
    ...driver.name === "scripted" && Option.isNone(decodeOptions(driver.options))
      ? ["has options that the driver scripted does not understand"]
      : [],
    ...max_reference_images > 0
      ? ["takes reference images, which no driver does yet: max_reference_images must be 0"]
      : []
  ]
}
