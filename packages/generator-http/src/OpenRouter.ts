/**
 * Driver for the videos of OpenRouter. The API has no idempotency and no cancellation. Input
 * images are sent as `data:` URLs in the request.
 */
import * as Driver from "@kinora/generator/Driver"
import type { GenerationRequest } from "@kinora/generator/GenerationRequest"
import * as Generator from "@kinora/generator/Generator"
import { failureOfText } from "@kinora/generator/ProviderFailure"
import { Duration, Effect, Layer, Schema } from "effect"
import { bind, bindingProblems, ownInputProblems, withPrompt } from "./internal/bindings.ts"
import { dataUrlOf, readImages } from "./internal/body.ts"
import { connectToJobs } from "./internal/connection.ts"
import { makeStatusOf, toGenerator, toOutput } from "./internal/operations.ts"
import { callbackFields, namedModelFields } from "./internal/sharedOptions.ts"
import * as Upstream from "./internal/upstream.ts"

/** Options of the driver. `base_url` is `https://openrouter.ai/api/v1` by default, and `poll_interval` 10 seconds. */
export const Options = Schema.Struct(callbackFields)
/** Type of `Options`. */
export type Options = typeof Options.Type

/** Options of a model. `model` is its id, such as `google/veo-3.1`. */
export const ModelOptions = Schema.Struct(namedModelFields)
/** Type of `ModelOptions`. */
export type ModelOptions = typeof ModelOptions.Type

/** Creates the generator. Its connections close with the scope. */
export const make = Effect.fnUntraced(function*(options: Options) {
  const { download, pollInterval, upstream } = yield* connectToJobs(options, {
    baseUrl: "https://openrouter.ai/api/v1",
    pollInterval: Duration.seconds(10)
  })
  return toGenerator({
    name: "OpenRouter",
    callsBack: options.callbacks !== false,
    operation: Operation,
    submit: makeSubmit(upstream),
    poll: ({ id }) =>
      Effect.map(
        upstream.call({ method: "GET", target: targetOf(id) }, Video),
        (video) => statusOf(video, pollInterval)
      ),
    // The API cannot cancel a job.
    cancel: () => Effect.void,
    collect: ({ id }) => Effect.map(download(`${targetOf(id)}/content?index=0`), (result) => toOutput(result))
  })
})

/** Provides the generator. */
export const layer = (options: Options): Layer.Layer<Generator.Generator> =>
  Layer.effect(Generator.Generator, make(options))

export default Driver.make({
  options: Options,
  modelOptions: ModelOptions,
  supports: { modes: ["text_to_video", "image_to_video"], imagesMax: 2 },
  check: (model, { bindings = [] }) => [...bindingProblems(model, bindings), ...ownInputProblems(bindings, ownInputs)],
  layer
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const Operation = Schema.Struct({ driver: Schema.Literal("openrouter"), id: Upstream.UpstreamId })
type Operation = typeof Operation.Type

/** A job. Fields that the driver does not read are ignored. */
const Video = Schema.Struct({
  id: Upstream.UpstreamId,
  status: Schema.String,
  error: Schema.optionalKey(Schema.Unknown)
})

const optionsOf = Driver.optionsOf(ModelOptions)

const targetOf = (id: string) => `/videos/${encodeURIComponent(id)}`

/** Names of inputs that the driver sends itself. */
const ownInputs = ["model", "frame_images", "callback_url"]

/** The frames that input images are, in order. */
const frames = ["first_frame", "last_frame"]

const makeSubmit = (upstream: Upstream.Upstream) =>
  Effect.fnUntraced(function*(request: GenerationRequest) {
    const { bindings = [], input: constants = {}, model } = yield* optionsOf(request)
    const images = (yield* readImages(request)).map(dataUrlOf)
    const bound = bind(withPrompt(bindings), request, images).map(({ to, value }) => [to, value] as const)
    const frame_images = images.slice(0, frames.length).map((url, index) => ({
      type: "image_url",
      image_url: { url },
      frame_type: frames[index] ?? ""
    }))
    const json = {
      ...constants,
      ...Object.fromEntries(bound),
      model,
      ...(request.callbackUrl === undefined ? {} : { callback_url: request.callbackUrl }),
      ...(images.length === 0 ? {} : { frame_images })
    }
    const { id } = yield* upstream.call({ method: "POST", target: "/videos", body: { json } }, Video)
    const operation: Operation = { driver: "openrouter", id }
    return operation
  })

const statusOf = makeStatusOf({
  succeeded: "completed",
  failed: ["failed", "cancelled", "expired"],
  failureOf: ({ error }: typeof Video.Type) => failureOfText(error)
})
