/**
 * Driver for image models of the AI SDK.
 *
 * A call of the AI SDK returns when the image is there, and has no idempotency: `submit` makes one
 * call without retries, and an interrupted call has an unknown outcome. The image is in memory
 * until it is collected.
 */
import * as Driver from "@kinora/generator/Driver"
import type { GenerationRequest } from "@kinora/generator/GenerationRequest"
import * as Generator from "@kinora/generator/Generator"
import { GeneratorError, UnknownOutcome } from "@kinora/generator/GeneratorError"
import type { Problem, ServedModel } from "@kinora/generator/ServedModel"
import { generateImage } from "ai"
import { Duration, Effect, Layer, Option, Schema, Stream } from "effect"
import { reasonOf, unusable } from "./internal/failures.ts"
import * as KeptImages from "./internal/keptImages.ts"
import { load } from "./internal/models.ts"

const Bytes = Schema.Int.check(Schema.isGreaterThan(0))

/** Options of the driver. */
export const Options = Schema.Struct({
  /** Module of the provider: a package such as `@ai-sdk/openai`, or a path, relative to the working directory. */
  module: Schema.NonEmptyString,
  /** Name of the export: a provider, a factory of providers, or an image model. Default `default`. */
  export: Schema.optionalKey(Schema.NonEmptyString),
  /** Options of the factory, such as `apiKey`. Default: none. */
  options: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown)),
  /** Time limit of a call, at most 5 minutes. Default 3 minutes. */
  call_timeout: Schema.optionalKey(
    Schema.DurationFromString.check(Schema.makeFilter(
      (duration) => Duration.isLessThanOrEqualTo(duration, Duration.minutes(5)),
      { expected: "at most 5 minutes" }
    ))
  ),
  /** Bytes of a response to a provider of a factory, and of an image. Default 64 MiB. */
  response_bytes_max: Schema.optionalKey(Bytes),
  /** Bytes of images that are in memory until they are collected. Default 256 MiB. */
  kept_bytes_max: Schema.optionalKey(Bytes)
})
/** Type of `Options`. */
export type Options = typeof Options.Type

const Size = Schema.String.check(Schema.isPattern(/^[1-9]\d{0,4}x[1-9]\d{0,4}$/))

/** Options of a model. */
export const ModelOptions = Schema.Struct({
  /** Id of the model at the provider. Must be absent if the export is a model. */
  model: Schema.optionalKey(Schema.NonEmptyString),
  /** Sizes such as `1024x1536` by aspect ratio, for providers without aspect ratios. */
  sizes: Schema.optionalKey(Schema.Record(Schema.String, Size)),
  /** Options of the provider for every call, by its name: `{ openai: { quality: high } }`. */
  provider_options: Schema.optionalKey(Schema.Record(Schema.String, Schema.Record(Schema.String, Schema.MutableJson)))
})
/** Type of `ModelOptions`. */
export type ModelOptions = typeof ModelOptions.Type

/** Creates the generator. Fails if the module or its export cannot be used. */
export const make = Effect.fnUntraced(function*(options: Options) {
  const { call_timeout = Duration.minutes(3), kept_bytes_max = 256 * 1024 ** 2 } = options
  const bytesMax = options.response_bytes_max ?? 64 * 1024 ** 2
  const modelOf = yield* load({ ...options, bytesMax })
  const images = KeptImages.make(kept_bytes_max)

  const submit = Effect.fn("AiSdk.submit")(function*(request: GenerationRequest) {
    const { model, provider_options, sizes } = yield* optionsOf(request)
    const files = yield* Effect.forEach(request.images, ({ body }) => Stream.mkUint8Array(body))
    const used = yield* Effect.try({ try: () => modelOf(model), catch: (cause) => failure(cause) })
    const { image } = yield* Effect.tryPromise({
      try: (abortSignal) =>
        generateImage({
          model: used,
          prompt: files.length === 0 ? request.prompt : { text: request.prompt, images: files },
          maxRetries: 0,
          abortSignal,
          ...shapeOf(request, sizes),
          ...(request.seed === undefined ? {} : { seed: request.seed }),
          ...(provider_options === undefined ? {} : { providerOptions: provider_options })
        }),
      catch: (cause) => failure(cause)
    }).pipe(
      Effect.timeoutOrElse({
        duration: call_timeout,
        orElse: () => Effect.fail(new GeneratorError({ reason: new UnknownOutcome() }))
      }),
      Effect.tapError(({ reason }) => Effect.logWarning("A call of the AI SDK failed", request.id, reason._tag))
    )
    if (image.uint8Array.length > bytesMax) return yield* new GeneratorError({ reason: unusable })
    yield* images.keep(request.id, { mime: image.mediaType, bytes: image.uint8Array })
    const operation: typeof Operation.Type = { driver: "ai-sdk", id: request.id }
    return operation
  })

  const find = (operation: Generator.Operation) =>
    Option.flatMapNullishOr(decode(operation), ({ id }) => images.get(id))

  return Generator.Generator.of({
    resubmit: "unsafe",
    submit,
    poll: Effect.fn("AiSdk.poll")((operation: Generator.Operation) =>
      Effect.sync(() => Option.isNone(find(operation)) ? Generator.failed(unusable) : Generator.succeeded)
    ),
    // The image has been made and paid for.
    cancel: () => Effect.void,
    collect: Effect.fn("AiSdk.collect")(function*(operation: Generator.Operation) {
      const image = find(operation)
      if (Option.isNone(image)) return yield* new GeneratorError({ reason: unusable })
      const { bytes, mime } = image.value
      return { mime, body: Stream.succeed(bytes) }
    })
  })
})

/** Provides the generator. */
export const layer = (options: Options) => Layer.effect(Generator.Generator, make(options))

export default Driver.make({
  options: Options,
  modelOptions: ModelOptions,
  supports: { modes: ["text_to_image", "image_to_image"] },
  check: (model, options) => parameterProblems(model, options),
  layer
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const Operation = Schema.Struct({ driver: Schema.Literal("ai-sdk"), id: Schema.NonEmptyString })

const decode = Schema.decodeUnknownOption(Operation)

const optionsOf = Driver.optionsOf(ModelOptions)

const failure = (cause: unknown): GeneratorError => new GeneratorError({ reason: reasonOf(cause) })

type Shape = { readonly size: `${number}x${number}` } | { readonly aspectRatio: `${number}:${number}` }

/** The types of the AI SDK are narrower than checked text. */
const shapeOf = ({ params }: GenerationRequest, sizes: ModelOptions["sizes"]): Shape | {} => {
  const ratio = params["aspect_ratio"]
  if (typeof ratio !== "string") return {}
  if (sizes === undefined) return { aspectRatio: ratio as `${number}:${number}` }
  return { size: sizes[ratio] as `${number}x${number}` }
}

/** Of the parameters, only `aspect_ratio` reaches providers. Each of its values needs a size if there are sizes. */
const parameterProblems = (model: ServedModel, { sizes }: ModelOptions): ReadonlyArray<Problem> =>
  model.params_schema.flatMap(({ name, values = [] }, index) => {
    const path = ["params_schema", index]
    if (name !== "aspect_ratio") return [{ path: [...path, "name"], message: "must be aspect_ratio" }]
    return values.flatMap((value) => {
      if (sizes !== undefined) {
        return Object.hasOwn(sizes, String(value))
          ? []
          : [{ path: ["driver", "options", "sizes"], message: `must have a size for ${value}` }]
      }
      return /^[1-9]\d{0,3}:[1-9]\d{0,3}$/.test(String(value))
        ? []
        : [{ path: [...path, "values"], message: "must be aspect ratios such as 3:2" }]
    })
  })
