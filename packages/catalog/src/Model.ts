/**
 * The configuration of a model: modes, parameters and prices. Field names are those of
 * the public model list, so that a configuration reads like the list that it produces.
 */
import { Effect, Option, Result, Schema } from "effect"

/** Kind of result. */
export const Kind = Schema.Literals(["image", "video"])
/** Type of `Kind`. */
export type Kind = typeof Kind.Type

/** Kind of input and kind of result. */
export const Mode = Schema.Literals(["text_to_image", "image_to_image", "text_to_video", "image_to_video"])
/** Type of `Mode`. */
export type Mode = typeof Mode.Type

/**
 * Availability of a model. A `degraded` model is slower. A `paused` model is listed but
 * accepts no new jobs. A `withdrawn` model is not listed, and its waiting jobs fail.
 */
export const Status = Schema.Literals(["available", "degraded", "paused", "withdrawn"])
/** Type of `Status`. */
export type Status = typeof Status.Type

/** A value of a parameter. */
export const ParamValue = Schema.Union([Schema.String, Schema.Int, Schema.Boolean])
/** Type of `ParamValue`. */
export type ParamValue = typeof ParamValue.Type

/** Values by parameter name. */
export const ParamValues = Schema.Record(Schema.String, ParamValue)
/** Type of `ParamValues`. */
export type ParamValues = typeof ParamValues.Type

/**
 * A parameter of a model. A `string` has `values`; an `int` has `values`, or `min` and
 * `max`. A parameter without a `default` can be absent from a job.
 */
export const ParamSchema = Schema.Struct({
  name: Schema.String.check(
    Schema.isPattern(/^[a-z][a-z0-9_]{0,63}$/, { expected: "lower-case letters, digits and _" })
  ),
  type: Schema.Literals(["string", "int", "boolean"]),
  default: Schema.optionalKey(ParamValue),
  min: Schema.optionalKey(Schema.Int),
  max: Schema.optionalKey(Schema.Int),
  values: Schema.optionalKey(Schema.Array(ParamValue).check(Schema.isBetweenLength(1, 1000)))
})
/** Type of `ParamSchema`. */
export type ParamSchema = typeof ParamSchema.Type

/** Price of jobs whose parameters equal `params`. `params` can also contain `mode`. */
export const PriceRow = Schema.Struct({
  params: ParamValues,
  credits: Schema.Int.check(Schema.isGreaterThan(0))
})
/** Type of `PriceRow`. */
export type PriceRow = typeof PriceRow.Type

/** Response format of the image endpoint if a request has no `response_format`. */
export const ResponseFormat = Schema.Literals(["url", "b64_json"])
/** Type of `ResponseFormat`. */
export type ResponseFormat = typeof ResponseFormat.Type

/** Media type of a result. */
export const OutputFormat = Schema.Literals(["image/png", "image/jpeg", "image/webp", "video/mp4", "video/webm"])
/** Type of `OutputFormat`. */
export type OutputFormat = typeof OutputFormat.Type

const id = Schema.String.check(
  Schema.isPattern(/^[a-z0-9][a-z0-9._-]{0,63}$/, { expected: "an id of lower-case letters, digits, '.', '_' and '-'" })
)

/**
 * Another id of a model, such as a former one. A request that uses it gets a job of the
 * model. `defaults` replace the defaults of parameters in such a request.
 */
export const Alias = Schema.Struct({
  id,
  defaults: ParamValues.pipe(Schema.withDecodingDefaultKey(Effect.succeed({})))
})
/** Type of `Alias`. */
export type Alias = typeof Alias.Type

/** Name of a driver, and options for it. */
const driverFields = {
  name: Schema.String.check(Schema.isMinLength(1)),
  options: Schema.Record(Schema.String, Schema.Json).pipe(Schema.withDecodingDefaultKey(Effect.succeed({})))
}

/** A model. `Catalog` additionally checks rules that involve several fields. */
export const Model = Schema.Struct({
  id,
  /** Other ids that requests can use. The model list does not contain them. Default: none. */
  aliases: Schema.Array(Alias).check(Schema.isMaxLength(16)).pipe(
    Schema.withDecodingDefaultKey(Effect.succeed([]))
  ),
  /** Display name. */
  name: Schema.String.check(Schema.isBetweenLength(1, 100)),
  /** Text about the model, for operators. The public model list does not contain it. Default: empty. */
  description: Schema.String.check(Schema.isMaxLength(2000)).pipe(
    Schema.withDecodingDefaultKey(Effect.succeed(""))
  ),
  kind: Kind,
  /** Default `available`. */
  status: Status.pipe(Schema.withDecodingDefaultKey(Effect.succeed("available" as const))),
  /** Included in the Studio plan. Default false. */
  studio_eligible: Schema.Boolean.pipe(Schema.withDecodingDefaultKey(Effect.succeed(false))),
  /** Modes, all of the kind of the model. */
  capabilities: Schema.Array(Mode).check(Schema.isMinLength(1), Schema.isUnique()),
  /** Maximum number of input images of a job. Default 0. */
  max_reference_images: Schema.Natural.check(Schema.isLessThanOrEqualTo(16)).pipe(
    Schema.withDecodingDefaultKey(Effect.succeed(0))
  ),
  /** Maximum length of a prompt, in Unicode code points. */
  max_prompt_chars: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100_000 })),
  params_schema: Schema.Array(ParamSchema).check(Schema.isMaxLength(32)),
  price_table: Schema.Array(PriceRow).check(Schema.isBetweenLength(1, 1000)),
  /** The generator driver. */
  driver: Schema.Struct({
    ...driverFields,
    /** Jobs of the model that run at the same time. Default: as many as the workers run. */
    concurrency: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 10_000 }))),
    /**
     * Other drivers that make the same, each with options for this model. They get, in this order, jobs that the
     * drivers before them do not take, and those that fail there. Default: none.
     */
    fallbacks: Schema.Array(Schema.Struct(driverFields)).check(Schema.isMaxLength(8)).pipe(
      Schema.withDecodingDefaultKey(Effect.succeed([]))
    )
  }),
  /** Maximum run time of a job, such as `10 minutes`. A job that runs longer fails with `time_limit`. */
  time_limit: Schema.DurationFromString,
  /** Default `url`. */
  response_format: ResponseFormat.pipe(Schema.withDecodingDefaultKey(Effect.succeed("url" as const))),
  /** Media types of results, the default first. */
  output_formats: Schema.Array(OutputFormat).check(Schema.isMinLength(1), Schema.isUnique())
})
/** Type of `Model`. */
export type Model = typeof Model.Type
/** A model as written in a configuration. */
export type ModelInput = typeof Model.Encoded

/** Returns the parameter with this name. */
export const param = (model: Model, name: string): Option.Option<ParamSchema> =>
  Option.fromUndefinedOr(model.params_schema.find((param) => param.name === name))

/** Returns the id of the model and its aliases. Jobs of earlier versions of a catalog can have any of them. */
export const ids = (model: Model): ReadonlyArray<string> => [model.id, ...model.aliases.map(({ id }) => id)]

/** Returns the model with other defaults of its parameters. */
export const withDefaults = (model: Model, defaults: ParamValues): Model => ({
  ...model,
  params_schema: model.params_schema.map((param) => {
    const value = Object.hasOwn(defaults, param.name) ? defaults[param.name] : undefined
    return value === undefined ? param : { ...param, default: value }
  })
})

/** Returns whether the model accepts this value for this parameter. */
export const accepts = (model: Model, name: string, value: ParamValue): boolean =>
  Option.exists(param(model, name), (param) => Result.isSuccess(checkValue(param, value)))

/** Returns the value, or a message that states which values are allowed. */
export const checkValue = (param: ParamSchema, value: unknown): Result.Result<ParamValue, string> => {
  if (!isOfType(param, value)) return Result.fail(`must be ${typeNames[param.type]}`)
  if (param.values !== undefined && !param.values.includes(value)) {
    return Result.fail(`must be one of ${param.values.join(", ")}`)
  }
  if (typeof value === "number" && param.min !== undefined && value < param.min) {
    return Result.fail(`must be at least ${param.min}`)
  }
  if (typeof value === "number" && param.max !== undefined && value > param.max) {
    return Result.fail(`must be at most ${param.max}`)
  }
  return Result.succeed(value)
}

/** Kind of result of each mode, and whether the mode requires input images. */
export const modes: Readonly<Record<Mode, { readonly kind: Kind; readonly takesImages: boolean }>> = {
  text_to_image: { kind: "image", takesImages: false },
  image_to_image: { kind: "image", takesImages: true },
  text_to_video: { kind: "video", takesImages: false },
  image_to_video: { kind: "video", takesImages: true }
}

/** Returns the mode of a job that has no `mode`. */
export const modeOf = (kind: Kind, hasImages: boolean): Mode => `${hasImages ? "image" : "text"}_to_${kind}`

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const typeNames = { string: "a string", int: "a whole number", boolean: "true or false" } as const

const isOfType = (param: ParamSchema, value: unknown): value is ParamValue => {
  switch (param.type) {
    case "string":
      return typeof value === "string"
    case "int":
      return Number.isSafeInteger(value)
    case "boolean":
      return typeof value === "boolean"
  }
}
