/** The generators that a model's configuration can name. */
import { Catalog, type Model } from "@kinora/catalog"
import { Generators, ScriptedGenerator } from "@kinora/generator"
import { ProceduralGenerator } from "@kinora/generator-procedural"
import type { GenerationRequest } from "@kinora/generator/GenerationRequest"
import { FailureCode, Permanent } from "@kinora/generator/GeneratorError"
import { Data, Duration, Effect, Layer, Result, Schema, SchemaIssue } from "effect"

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
  /** In place of `delay`: the shortest and the longest time; every time between them is as likely. */
  delay_min: Schema.optionalKey(Schema.DurationFromString),
  /** See `delay_min`. */
  delay_max: Schema.optionalKey(Schema.DurationFromString),
  /** The code of the jobs that fail. Default: `generation_failed` if there is a `failure_rate`, else none fail. */
  failure: Schema.optionalKey(FailureCode),
  /** Share of the jobs that fail, 0 to 1. Default 1 if there is a `failure`. */
  failure_rate: Schema.optionalKey(Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))),
  /** Size of the result; at least what the smallest valid file takes. Default 4096. */
  bytes: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThan(0)))
}).check(Schema.makeFilter(
  ({ delay, delay_max, delay_min }) =>
    delay_min === undefined && delay_max === undefined ||
    delay === undefined && delay_min !== undefined && delay_max !== undefined &&
      Duration.isLessThanOrEqualTo(delay_min, delay_max),
  { expected: "a delay, or a delay_min and a delay_max that is not shorter" }
))

/** What the options of a request's model say. With wrong ones every job fails. */
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

const decodeOptions = Schema.decodeUnknownResult(ScriptedOptions, { errors: "all", onExcessProperty: "error" })

const formatIssue = SchemaIssue.makeFormatterStandardSchemaV1()

const failureOf = (code: typeof FailureCode.Type) =>
  new Permanent({ code, reason: null, message: "The script of this model says that its jobs fail." })

const problemsOf = (model: Model.Model, names: ReadonlyArray<string>): ReadonlyArray<string> => {
  const { name } = model.driver
  if (!names.includes(name)) return [`names the driver ${JSON.stringify(name)}; there are ${names.join(", ")}`]
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
      ? [`has modes that the driver procedural does not have, ${unknown.join(", ")}; there are ${modes.join(", ")}`]
      : [],
    ...max_reference_images > referencesMax
      ? [
        `takes more reference images than the driver procedural: max_reference_images must be at most ${referencesMax}`
      ]
      : []
  ]
}

const scriptedProblems = ({ driver }: Model.Model): ReadonlyArray<string> =>
  Result.match(decodeOptions(driver.options), {
    onFailure: ({ issue }) =>
      formatIssue(issue).issues.map(({ message, path = [] }) =>
        `has options that the driver scripted does not understand: ${[...path.map(String), message].join(": ")}`
      ),
    onSuccess: () => []
  })
