/**
 * Videos of the AI SDK: one call starts the job, and others ask for its status, from any process.
 * `doGenerate` of a model is never called, since it would lose the job with the process.
 */
import type { GenerationRequest } from "@kinora/generator/GenerationRequest"
import * as Generator from "@kinora/generator/Generator"
import { GeneratorError, Transient, UnknownOutcome } from "@kinora/generator/GeneratorError"
import { failureOfText } from "@kinora/generator/ProviderFailure"
import { experimental_getVideoStatus, experimental_startVideo } from "ai"
import { type Duration, Effect, Schema, type Scope, Stream } from "effect"
import { reasonOf, reasonOfStatusCall, unusable } from "./failures.ts"
import type { VideoModel } from "./models.ts"

/** Options for `make`. */
export interface VideosOptions {
  readonly modelOf: (id: string | undefined) => VideoModel
  readonly callTimeout: Duration.Duration
  readonly pollInterval: Duration.Duration
  readonly download: (url: string) => Effect.Effect<Generator.Output["body"], GeneratorError, Scope.Scope>
}

/** Options of a call. See `ModelOptions` of the driver. */
export interface VideoCall {
  readonly model?: string | undefined
  readonly shape: { readonly resolution?: `${number}x${number}`; readonly aspectRatio?: `${number}:${number}` }
  readonly providerOptions: NonNullable<Parameters<typeof experimental_startVideo>[0]["providerOptions"]> | undefined
}

/** A started job: the operation of its provider, and the model that it was started on. */
export const Operation = Schema.Struct({
  driver: Schema.Literal("ai-sdk"),
  model: Schema.optionalKey(Schema.NonEmptyString),
  video: Schema.Json
})
type Operation = typeof Operation.Type

/** Makes the calls for videos. */
export const make = (options: VideosOptions) => {
  const { callTimeout, download, modelOf, pollInterval } = options

  const status = Effect.fnUntraced(function*({ model, video }: Operation) {
    const used = yield* find(modelOf, model)
    return yield* Effect.tryPromise({
      try: (abortSignal) => experimental_getVideoStatus(used, { operation: video, abortSignal, maxRetries: 0 }),
      catch: (cause) => new GeneratorError({ reason: reasonOfStatusCall(cause) })
    }).pipe(Effect.timeoutOrElse({
      duration: callTimeout,
      orElse: () => Effect.fail(new GeneratorError({ reason: new Transient({}) }))
    }))
  })

  const poll = Effect.fnUntraced(function*(operation: Operation) {
    const result = yield* status(operation)
    switch (result.status) {
      case "pending":
        return Generator.pending(pollInterval)
      case "error":
        return Generator.failed(failureOfText(result.error))
      case "completed":
        return Generator.succeeded
    }
  })

  const collect = Effect.fnUntraced(function*(operation: Operation) {
    const result = yield* status(operation)
    if (result.status === "pending") return yield* new GeneratorError({ reason: new Transient({}) })
    const video = result.status === "completed" ? result.videos[0] : undefined
    const mime = video?.mediaType ?? "application/octet-stream"
    switch (video?.type) {
      case "url":
        return { mime, body: yield* download(video.url) }
      case "base64":
        return { mime, body: Stream.succeed<Uint8Array>(Buffer.from(video.data, "base64")) }
      case "binary":
        return { mime, body: Stream.succeed(video.data) }
      default:
        return yield* new GeneratorError({ reason: unusable })
    }
  })

  return { submit: makeSubmit(options), poll, collect }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const find = (modelOf: VideosOptions["modelOf"], model: string | undefined) =>
  Effect.try({ try: () => modelOf(model), catch: (cause) => new GeneratorError({ reason: reasonOf(cause) }) })

/** Makes the function that starts a job. */
const makeSubmit = ({ callTimeout, modelOf }: VideosOptions) => {
  return Effect.fnUntraced(function*(
    request: GenerationRequest,
    { model, providerOptions, shape }: VideoCall,
    [image]: ReadonlyArray<Uint8Array>
  ) {
    const { duration } = request.params
    const used = yield* find(modelOf, model)
    const { operation: started } = yield* Effect.tryPromise({
      try: (abortSignal) =>
        experimental_startVideo({
          model: used,
          prompt: image === undefined ? request.prompt : { text: request.prompt, image },
          maxRetries: 0,
          abortSignal,
          headers: { "idempotency-key": request.id },
          ...shape,
          ...(typeof duration === "number" ? { duration } : {}),
          ...(request.seed === undefined ? {} : { seed: request.seed }),
          ...(providerOptions === undefined ? {} : { providerOptions })
        }),
      catch: (cause) => new GeneratorError({ reason: reasonOf(cause) })
    }).pipe(Effect.timeoutOrElse({
      duration: callTimeout,
      orElse: () => Effect.fail(new GeneratorError({ reason: new UnknownOutcome() }))
    }))
    // It is stored with the job, and returned to the provider by every poll.
    const text = JSON.stringify(started ?? null)
    if (text.length > operationLengthMax) return yield* new GeneratorError({ reason: unusable })
    const video = JSON.parse(text) as Schema.Json
    const operation: Operation = { driver: "ai-sdk", ...(model === undefined ? {} : { model }), video }
    return operation
  })
}

/** Maximum length of the operation of a provider as JSON. */
const operationLengthMax = 16_384
