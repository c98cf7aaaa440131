/**
 * A model as it is configured: what it can do, which parameters it takes and what
 * it costs. Names are those of PublicModel in `interface.md`, so that a
 * configuration reads like the model list that comes of it.
 */
import { Effect, Option, Result, Schema } from "effect"

/** What a model makes (D9). */
export const Kind = Schema.Literals(["image", "video"])
/** See the schema of the same name. */
export type Kind = typeof Kind.Type

/** What a model makes from what (D9). */
export const Mode = Schema.Literals(["text_to_image", "image_to_image", "text_to_video", "image_to_video"])
/** See the schema of the same name. */
export type Mode = typeof Mode.Type

/**
 * Whether a model is served (D9): `degraded` is served slower, `paused` is listed
 * but takes no new jobs, `withdrawn` is not listed and fails the jobs that wait.
 */
export const Status = Schema.Literals(["available", "degraded", "paused", "withdrawn"])
/** See the schema of the same name. */
export type Status = typeof Status.Type

/** A parameter's value, or one that it may have. */
export const ParamValue = Schema.Union([Schema.String, Schema.Int, Schema.Boolean])
/** See the schema of the same name. */
export type ParamValue = typeof ParamValue.Type

/** Values by the parameter's name. */
export const ParamValues = Schema.Record(Schema.String, ParamValue)
/** See the schema of the same name. */
export type ParamValues = typeof ParamValues.Type

/**
 * A parameter that jobs may set. A `string` lists its `values`; an `int` lists
 * them or has `min` and `max`. Without a `default` it may be absent from a job.
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
/** See the schema of the same name. */
export type ParamSchema = typeof ParamSchema.Type

/** What a job costs whose parameters agree with `params`; besides parameters, `mode` may be given. */
export const PriceRow = Schema.Struct({
  params: ParamValues,
  credits: Schema.Int.check(Schema.isGreaterThan(0))
})
/** See the schema of the same name. */
export type PriceRow = typeof PriceRow.Type

/** How the image endpoint answers when `response_format` is absent (D20). */
export const ResponseFormat = Schema.Literals(["url", "b64_json"])
/** See the schema of the same name. */
export type ResponseFormat = typeof ResponseFormat.Type

/** Media types that a model's results may have. */
export const OutputFormat = Schema.Literals(["image/png", "image/jpeg", "image/webp", "video/mp4", "video/webm"])
/** See the schema of the same name. */
export type OutputFormat = typeof OutputFormat.Type

const id = Schema.String.check(
  Schema.isPattern(/^[a-z0-9][a-z0-9._-]{0,63}$/, { expected: "an id of lower-case letters, digits, '.', '_' and '-'" })
)

/** A model. `Catalog` also checks what no single field can tell. */
export const Model = Schema.Struct({
  id,
  /** Shown to people. */
  name: Schema.String.check(Schema.isBetweenLength(1, 100)),
  kind: Kind,
  /** Default `available`. */
  status: Status.pipe(Schema.withDecodingDefaultKey(Effect.succeed("available" as const))),
  /** Whether the Studio plan includes it. Default false. */
  studio_eligible: Schema.Boolean.pipe(Schema.withDecodingDefaultKey(Effect.succeed(false))),
  /** Its modes, all of its kind. */
  capabilities: Schema.Array(Mode).check(Schema.isMinLength(1), Schema.isUnique()),
  /** Input images of one job. Default 0. */
  max_reference_images: Schema.Natural.check(Schema.isLessThanOrEqualTo(16)).pipe(
    Schema.withDecodingDefaultKey(Effect.succeed(0))
  ),
  /** Unicode code points of a prompt. */
  max_prompt_chars: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100_000 })),
  params_schema: Schema.Array(ParamSchema).check(Schema.isMaxLength(32)),
  price_table: Schema.Array(PriceRow).check(Schema.isBetweenLength(1, 1000)),
  /** Which generator makes the results, and what that generator wants to know. */
  driver: Schema.Struct({
    name: Schema.String.check(Schema.isMinLength(1)),
    options: Schema.Record(Schema.String, Schema.Json).pipe(Schema.withDecodingDefaultKey(Effect.succeed({})))
  }),
  /** A job that runs longer fails (D7, D12 `time_limit`). Written `10 minutes`. */
  time_limit: Schema.DurationFromString,
  /** Default `url`. */
  response_format: ResponseFormat.pipe(Schema.withDecodingDefaultKey(Effect.succeed("url" as const))),
  /** Media types of its results, the usual one first. */
  output_formats: Schema.Array(OutputFormat).check(Schema.isMinLength(1), Schema.isUnique())
})
/** See the schema of the same name. */
export type Model = typeof Model.Type
/** A model as it is written in a configuration. */
export type ModelInput = typeof Model.Encoded

/** The parameter of this name. */
export const param = (model: Model, name: string): Option.Option<ParamSchema> =>
  Option.fromUndefinedOr(model.params_schema.find((param) => param.name === name))

/** Whether the model takes this value for this parameter: what `quality: "hd"` asks of `resolution` (D20). */
export const accepts = (model: Model, name: string, value: ParamValue): boolean =>
  Option.exists(param(model, name), (param) => Result.isSuccess(checkValue(param, value)))

/** The value of a parameter, or what is wrong with it (D17). */
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

/** What a mode makes, and whether it starts from images. */
export const modes: Readonly<Record<Mode, { readonly kind: Kind; readonly takesImages: boolean }>> = {
  text_to_image: { kind: "image", takesImages: false },
  image_to_image: { kind: "image", takesImages: true },
  text_to_video: { kind: "video", takesImages: false },
  image_to_video: { kind: "video", takesImages: true }
}

/** The mode of a job that names none (D9). */
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
