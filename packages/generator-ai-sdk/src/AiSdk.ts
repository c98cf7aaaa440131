/**
 * Driver for image and video models of the AI SDK, which has no idempotency: `submit` makes one
 * call without retries, and an interrupted call has an unknown outcome.
 *
 * The call for an image returns when the image is complete. It is in memory until it is collected.
 * The call for a video starts a job. Every process can ask for its status and collect it. The
 * AI SDK cannot cancel it: a video that is given up is still made by its provider, and nobody
 * collects it.
 */
import * as Driver from "@kinora/generator/Driver"
import type { GenerationRequest } from "@kinora/generator/GenerationRequest"
import * as Generator from "@kinora/generator/Generator"
import { GeneratorError, UnknownOutcome } from "@kinora/generator/GeneratorError"
import type { Problem, ServedModel } from "@kinora/generator/ServedModel"
import { generateImage } from "ai"
import { Duration, Effect, Layer, Option, Schema, Stream } from "effect"
import { makeDownload } from "./internal/download.ts"
import { reasonOf, unusable } from "./internal/failures.ts"
import * as KeptImages from "./internal/keptImages.ts"
import { load, type Models } from "./internal/models.ts"
import * as Videos from "./internal/videos.ts"

const Bytes = Schema.Int.check(Schema.isGreaterThan(0))

/** Options of the driver. */
export const Options = Schema.Struct({
  /** Module of the provider: a package such as `@ai-sdk/openai`, or a path, relative to the working directory. */
  module: Schema.NonEmptyString,
  /** Name of the export: a provider, a factory of providers, or a model. Default `default`. */
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
  kept_bytes_max: Schema.optionalKey(Bytes),
  /** Time between two polls of a video. Default 5 seconds. */
  poll_interval: Schema.optionalKey(Schema.DurationFromString),
  /** Bytes of a video that is downloaded. Default 1 GiB. */
  result_bytes_max: Schema.optionalKey(Bytes),
  /** Time limit between two parts of a video. Default 30 seconds. */
  idle_timeout: Schema.optionalKey(Schema.DurationFromString),
  /** Whether videos may be at private addresses, over HTTP and on every port. Default `false`. */
  private: Schema.optionalKey(Schema.Boolean)
})
/** Type of `Options`. */
export type Options = typeof Options.Type

const Size = Schema.String.check(Schema.isPattern(/^[1-9]\d{0,4}x[1-9]\d{0,4}$/))

/** Options of a model. */
export const ModelOptions = Schema.Struct({
  /** Id of the model at the provider. Must be absent if the export is a model. */
  model: Schema.optionalKey(Schema.NonEmptyString),
  /** Sizes such as `1024x1536` by aspect ratio, for providers without aspect ratios. For videos, these are resolutions. */
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
  const models = yield* load({ ...options, bytesMax })
  const images = KeptImages.make(kept_bytes_max)
  const videos = Videos.make({
    modelOf: models.video,
    callTimeout: call_timeout,
    pollInterval: options.poll_interval ?? Duration.seconds(5),
    download: yield* makeDownload({
      isPrivate: options.private ?? false,
      timeout: call_timeout,
      idleTimeout: options.idle_timeout ?? Duration.seconds(30),
      bytesMax: options.result_bytes_max ?? 1024 ** 3
    })
  })

  const submitImage = makeSubmitImage({ modelOf: models.image, images, bytesMax, callTimeout: call_timeout })

  const submit = Effect.fn("AiSdk.submit")(
    function*(request: GenerationRequest) {
      const decoded = yield* optionsOf(request)
      const files = yield* Effect.forEach(request.images, ({ body }) => Stream.mkUint8Array(body))
      return yield* request.kind === "image"
        ? submitImage(request, decoded, files)
        : videos.submit(request, videoCallOf(request, decoded), files)
    },
    (call, { id }) =>
      Effect.tapError(call, ({ reason }) => Effect.logWarning("A call of the AI SDK failed", id, reason._tag))
  )

  const find = (operation: Generator.Operation) =>
    Option.flatMapNullishOr(decode(operation), ({ id }) => images.get(id))

  return Generator.Generator.of({
    resubmit: "unsafe",
    spacesPolls: true,
    submit,
    poll: Effect.fn("AiSdk.poll")((operation: Generator.Operation) =>
      Option.match(decodeVideo(operation), {
        onNone: () =>
          Effect.sync(() => Option.isNone(find(operation)) ? Generator.failed(unusable) : Generator.succeeded),
        onSome: videos.poll
      })
    ),
    // An image has been made and paid for. The AI SDK cannot cancel a video, whose result is discarded.
    cancel: () => Effect.void,
    collect: Effect.fn("AiSdk.collect")(function*(operation: Generator.Operation) {
      const video = decodeVideo(operation)
      if (Option.isSome(video)) return yield* videos.collect(video.value)
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
  check: (model, options) => [...imageProblems(model), ...parameterProblems(model, options)],
  layer
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface ImageCalls {
  readonly modelOf: Models["image"]
  readonly images: ReturnType<typeof KeptImages.make>
  readonly bytesMax: number
  readonly callTimeout: Duration.Duration
}

/** Makes the function that calls for an image and keeps it. */
const makeSubmitImage = ({ bytesMax, callTimeout, images, modelOf }: ImageCalls) =>
  Effect.fnUntraced(function*(
    request: GenerationRequest,
    { model, provider_options, sizes }: ModelOptions,
    files: ReadonlyArray<Uint8Array>
  ) {
    const used = yield* Effect.try({ try: () => modelOf(model), catch: (cause) => failure(cause) })
    const { image } = yield* Effect.tryPromise({
      try: (abortSignal) =>
        generateImage({
          model: used,
          prompt: files.length === 0 ? request.prompt : { text: request.prompt, images: [...files] },
          maxRetries: 0,
          abortSignal,
          ...shapeOf(request, sizes),
          ...(request.seed === undefined ? {} : { seed: request.seed }),
          ...(provider_options === undefined ? {} : { providerOptions: provider_options })
        }),
      catch: (cause) => failure(cause)
    }).pipe(
      Effect.timeoutOrElse({
        duration: callTimeout,
        orElse: () => Effect.fail(new GeneratorError({ reason: new UnknownOutcome() }))
      })
    )
    if (image.uint8Array.length > bytesMax) return yield* new GeneratorError({ reason: unusable })
    yield* images.keep(request.id, { mime: image.mediaType, bytes: image.uint8Array })
    const operation: typeof Operation.Type = { driver: "ai-sdk", id: request.id }
    return operation
  })

const Operation = Schema.Struct({ driver: Schema.Literal("ai-sdk"), id: Schema.NonEmptyString })

const decode = Schema.decodeUnknownOption(Operation)

const decodeVideo = Schema.decodeUnknownOption(Videos.Operation)

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

const videoCallOf = (
  request: GenerationRequest,
  { model, provider_options, sizes }: ModelOptions
): Videos.VideoCall => {
  const shape = shapeOf(request, sizes)
  return { model, providerOptions: provider_options, shape: "size" in shape ? { resolution: shape.size } : shape }
}

/** A video starts from one image. */
const imageProblems = ({ kind, max_reference_images }: ServedModel): ReadonlyArray<Problem> =>
  kind === "video" && max_reference_images > 1
    ? [{ path: ["max_reference_images"], message: "must be at most 1 for videos" }]
    : []

/**
 * Of the parameters, only `aspect_ratio`, and `duration` of videos in seconds, reach providers.
 * Each aspect ratio needs a size if there are sizes.
 */
const parameterProblems = (model: ServedModel, { sizes }: ModelOptions): ReadonlyArray<Problem> =>
  model.params_schema.flatMap(({ name, type, values = [] }, index) => {
    const path = ["params_schema", index]
    if (model.kind === "video" && name === "duration" && type === "int") return []
    if (name !== "aspect_ratio") {
      const message = model.kind === "video" ? "must be aspect_ratio, or duration of type int" : "must be aspect_ratio"
      return [{ path: [...path, "name"], message }]
    }
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
