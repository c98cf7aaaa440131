/**
 * Driver for the videos API of OpenAI (`/v1/videos`) as vLLM-Omni, SGLang, LiteLLM and others
 * serve it. The API has no idempotency.
 */
import * as Driver from "@kinora/generator/Driver"
import type { GenerationRequest } from "@kinora/generator/GenerationRequest"
import * as Generator from "@kinora/generator/Generator"
import type { GeneratorError } from "@kinora/generator/GeneratorError"
import { permanent, rejectionOfCodes } from "@kinora/generator/ProviderFailure"
import { Duration, Effect, Layer, Option, Schema, type Scope, Stream } from "effect"
import { bind, bindingProblems, Bindings, formBindingProblems } from "./internal/bindings.ts"
import { fileNameOf, type FormPart, readImages } from "./internal/body.ts"
import { connect } from "./internal/connection.ts"
import { type Download, makeDownload } from "./internal/download.ts"
import { codesOf } from "./internal/failures.ts"
import { ignoreRejection, makeStatusOf, toGenerator, toOutput } from "./internal/operations.ts"
import * as Upstream from "./internal/upstream.ts"
import * as UpstreamOptions from "./UpstreamOptions.ts"

/** Options of the driver. */
export const Options = Schema.Struct({
  ...UpstreamOptions.fields,
  /** The address of the API with its version, such as `http://gpu.internal:8091/v1`. */
  base_url: UpstreamOptions.BaseUrl,
  /** Sent as `Authorization: Bearer`. Default: none. */
  api_key: Schema.optionalKey(Driver.Secret),
  /** Time between two polls of a job. Default 5 seconds. */
  poll_interval: Schema.optionalKey(Schema.DurationFromString),
  /**
   * Whether `GET /videos/{id}/content?variant=thumbnail` returns an image, from which the poster
   * is made. Default `false`.
   */
  thumbnails: Schema.optionalKey(Schema.Boolean)
})
/** Type of `Options`. */
export type Options = typeof Options.Type

/** Options of a model. */
export const ModelOptions = Schema.Struct({
  /** The name of the model at the upstream. Default: the model that the upstream serves. */
  model: Schema.optionalKey(Schema.NonEmptyString),
  /** Fields of every request, such as `fps`. */
  fields: Schema.optionalKey(
    Schema.Record(Schema.String, Schema.Union([Schema.String, Schema.Finite, Schema.Boolean]))
  ),
  /** Where parameters go. `to` is the name of a field, such as `seconds` or `size`. The field `prompt` is bound already. */
  bindings: Schema.optionalKey(Bindings)
})
/** Type of `ModelOptions`. */
export type ModelOptions = typeof ModelOptions.Type

/** Creates the generator. Its connections close with the scope. */
export const make = Effect.fnUntraced(function*(options: Options) {
  const { api_key, base_url, poll_interval = Duration.seconds(5), thumbnails = false, ...limits } = options
  const { download, upstream } = yield* connect({ baseUrl: base_url, apiKey: api_key }, limits)
  const downloadThumbnail = yield* makeDownload(upstream, { ...limits, result_bytes_max: thumbnailBytesMax })
  return toGenerator({
    name: "OpenAiVideos",
    operation: Operation,
    submit: makeSubmit(upstream),
    poll: ({ id }) => Effect.map(get(upstream, id), (video) => statusOf(video, poll_interval)),
    cancel: ({ id }) => cancel(upstream, id),
    collect: Effect.fnUntraced(function*({ id }) {
      const poster = thumbnails
        ? yield* readThumbnail(downloadThumbnail(`${targetOf(id)}/content?variant=thumbnail`))
        : undefined
      const output = toOutput(yield* download(`${targetOf(id)}/content`))
      return poster === undefined ? output : { ...output, poster }
    })
  })
})

/** Provides the generator. */
export const layer = (options: Options): Layer.Layer<Generator.Generator> =>
  Layer.effect(Generator.Generator, make(options))

export default Driver.make({
  options: Options,
  modelOptions: ModelOptions,
  supports: { modes: ["text_to_video", "image_to_video"], imagesMax: 1 },
  check: (model, { bindings = [] }) => [
    ...bindingProblems(model, bindings),
    ...formBindingProblems(bindings, ownFields, "input_reference")
  ],
  layer
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const thumbnailBytesMax = 8 * 1024 * 1024

const Operation = Schema.Struct({ driver: Schema.Literal("openai-videos"), id: Upstream.UpstreamId })
type Operation = typeof Operation.Type

/** A job. Fields that the driver does not read are ignored. */
const Video = Schema.Struct({
  id: Upstream.UpstreamId,
  status: Schema.String,
  /** Percent. */
  progress: Schema.optionalKey(Schema.NullOr(Schema.Number)),
  error: Schema.optionalKey(Schema.Unknown)
})

const optionsOf = Driver.optionsOf(ModelOptions)

const targetOf = (id: string) => `/videos/${encodeURIComponent(id)}`

const get = (upstream: Upstream.Upstream, id: string) => upstream.call({ method: "GET", target: targetOf(id) }, Video)

/** Names of form fields that the driver sends itself. */
const ownFields = ["prompt", "model", "input_reference"]

const makeSubmit = (upstream: Upstream.Upstream) =>
  Effect.fnUntraced(function*(request: GenerationRequest) {
    const { bindings = [], fields = {}, model } = yield* optionsOf(request)
    const images = yield* readImages(request)
    const bound = bind(bindings, request, []).map(({ to, value }) => [to, value] as const)
    const values = { ...fields, ...Object.fromEntries(bound) }
    const form: ReadonlyArray<FormPart> = [
      ...(model === undefined ? [] : [{ name: "model", value: model }]),
      { name: "prompt", value: request.prompt },
      ...Object.entries(values).map(([name, value]) => ({ name, value: textOf(value) })),
      ...images.map(({ bytes, mime }) => ({
        name: "input_reference",
        fileName: fileNameOf("image", mime),
        mime,
        bytes
      }))
    ]
    const { id } = yield* upstream.call({ method: "POST", target: "/videos", body: { form } }, Video)
    const operation: Operation = { driver: "openai-videos", id }
    return operation
  })

const textOf = (value: Schema.Json): string => typeof value === "string" ? value : JSON.stringify(value)

const statusOf = makeStatusOf({
  succeeded: "completed",
  failed: ["failed", "cancelled", "canceled", "expired"],
  failureOf: ({ error }: typeof Video.Type) => permanent(isModerated(error) ? "moderated" : "failed"),
  progressOf: ({ progress }) => typeof progress === "number" ? progress / 100 : undefined
})

/** Returns whether the error of a job has a code of a content policy. */
const isModerated = (error: unknown): boolean => rejectionOfCodes(codesOf({ error })) === "moderated"

/**
 * Deletes a job that has not ended: the result of one that has ended would be deleted. Some
 * servers stop the work of a deleted job, others do not, and some do not support it.
 */
const cancel = (upstream: Upstream.Upstream, id: string): Effect.Effect<void, GeneratorError> =>
  ignoreRejection(Effect.flatMap(get(upstream, id), (video) =>
    statusOf(video, Duration.zero)._tag === "Pending"
      ? upstream.tell({ method: "DELETE", target: targetOf(id) })
      : Effect.void))

/** Reads a thumbnail. Returns `undefined` if there is none, since the video is complete without it. */
const readThumbnail = (thumbnail: Effect.Effect<Download, GeneratorError, Scope.Scope>) =>
  Effect.scoped(Effect.gen(function*() {
    const { body, mime = "" } = yield* thumbnail
    return mime.startsWith("image/") ? yield* Stream.runCollect(body) : []
  })).pipe(
    Effect.option,
    Effect.map(Option.match({
      onNone: () => undefined,
      onSome: (parts) => parts.length === 0 ? undefined : new Uint8Array(Buffer.concat(parts))
    }))
  )
