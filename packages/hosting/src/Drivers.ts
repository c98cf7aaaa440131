/** The generators that models can name in their configuration. */
import { Catalog, type Model } from "@kinora/catalog"
import { Generators, ScriptedGenerator } from "@kinora/generator"
import { ProceduralGenerator } from "@kinora/generator-procedural"
import type { GenerationRequest } from "@kinora/generator/GenerationRequest"
import { FailureCode, Permanent } from "@kinora/generator/GeneratorError"
import { Data, Duration, Effect, Layer, Result, Schema, SchemaIssue } from "effect"

/**
 * The drivers `procedural`, which paints images without a model, and `scripted`, which
 * returns files after a delay, for load tests and drills. See `ScriptedOptions`.
 */
export const layer = Generators.layer({
  procedural: ProceduralGenerator.layer(),
  scripted: ScriptedGenerator.layer.pipe(
    Layer.provide(Layer.suspend(() => ScriptedGenerator.layerControl({ script: scriptOf, pollInterval: "100 millis" })))
  )
})

/** Schema of `driver.options` for the driver `scripted`. */
export const ScriptedOptions = Schema.Struct({
  /** Time from the start to the outcome, such as `5 seconds`. Default: none. */
  delay: Schema.optionalKey(Schema.DurationFromString),
  /** Minimum of a random delay, instead of `delay`. Uniformly distributed. */
  delay_min: Schema.optionalKey(Schema.DurationFromString),
  /** Maximum of a random delay. */
  delay_max: Schema.optionalKey(Schema.DurationFromString),
  /** Failure code of failing jobs. Default: `generation_failed` if `failure_rate` is set; otherwise no job fails. */
  failure: Schema.optionalKey(FailureCode),
  /** Share of jobs that fail, from 0 to 1. Default 1 if `failure` is set. */
  failure_rate: Schema.optionalKey(Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))),
  /** Length of the result in bytes. A valid file has a minimum length. Default 4096. */
  bytes: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThan(0)))
}).check(Schema.makeFilter(
  ({ delay, delay_max, delay_min }) =>
    delay_min === undefined && delay_max === undefined ||
    delay === undefined && delay_min !== undefined && delay_max !== undefined &&
      Duration.isLessThanOrEqualTo(delay_min, delay_max),
  { expected: "either delay, or delay_min and a delay_max of at least delay_min" }
))

/** Returns the script for a request from the options of its model. With invalid options, the job fails. */
export const scriptOf = ({ model }: GenerationRequest): ScriptedGenerator.Script =>
  Result.match(decodeOptions(model.options), {
    onFailure: () => ({ outcome: failureOf("invalid_input") }),
    onSuccess: ({ bytes, delay, delay_max, delay_min, failure, failure_rate }) => ({
      bytes,
      delay: delay ?? delay_min,
      delayMax: delay_max,
      outcome: failure === undefined && failure_rate === undefined
        ? "succeed"
        : failureOf(failure ?? "generation_failed"),
      failureRate: failure_rate
    })
  })

/** Models that no driver of this process can serve. Stops the start and lists every problem. */
export class UnservableModels extends Data.TaggedError("UnservableModels")<{
  readonly problems: ReadonlyArray<{ readonly model: string; readonly problem: string }>
}> {
  override get message(): string {
    return this.problems.map(({ model, problem }) => `The model ${model} ${problem}`).join("\n")
  }
}

/** Fails unless each model that is not withdrawn can be served by its driver. */
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

const decodeOptions = Schema.decodeUnknownResult(ScriptedOptions, { errors: "all", onExcessProperty: "error" })

const formatIssue = SchemaIssue.makeFormatterStandardSchemaV1()

const failureOf = (code: typeof FailureCode.Type) =>
  new Permanent({ code, reason: null, message: "The script of this model lets the job fail." })

const problemsOf = (model: Model.Model, names: ReadonlyArray<string>): ReadonlyArray<string> => {
  const { name } = model.driver
  if (!names.includes(name)) {
    return [`names the unknown driver ${JSON.stringify(name)}; available drivers: ${names.join(", ")}`]
  }
  switch (name) {
    case "procedural":
      return proceduralProblems(model)
    case "scripted":
      return scriptedProblems(model)
    default:
      return []
  }
}

const proceduralProblems = ({ capabilities, max_reference_images }: Model.Model): ReadonlyArray<string> => {
  const { modes, referencesMax } = ProceduralGenerator
  const unknown = capabilities.filter((mode) => !modes.includes(mode))
  return [
    ...unknown.length > 0
      ? [
        `has modes that the driver procedural does not support, ${unknown.join(", ")}; supported modes: ${
          modes.join(", ")
        }`
      ]
      : [],
    ...max_reference_images > referencesMax
      ? [
        `accepts more reference images than the driver procedural; max_reference_images must be at most ${referencesMax}`
      ]
      : []
  ]
}

const scriptedProblems = ({ driver }: Model.Model): ReadonlyArray<string> =>
  Result.match(decodeOptions(driver.options), {
    onFailure: ({ issue }) =>
      formatIssue(issue).issues.map(({ message, path = [] }) =>
        `has invalid options for the driver scripted: ${[...path.map(String), message].join(": ")}`
      ),
    onSuccess: () => []
  })
