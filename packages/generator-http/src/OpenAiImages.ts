/**
 * Driver for servers with the images API of OpenAI: OpenAI, LocalAI, LiteLLM, vLLM-Omni and others.
 *
 * The API is synchronous and has no idempotency: `submit` returns when the image is complete, and an
 * interrupted request has an unknown outcome. The image is in memory until it is collected.
 */
import * as Driver from "@kinora/generator/Driver"
import type { GenerationRequest } from "@kinora/generator/GenerationRequest"
import * as Generator from "@kinora/generator/Generator"
import { GeneratorError } from "@kinora/generator/GeneratorError"
import { permanent } from "@kinora/generator/ProviderFailure"
import { Duration, Effect, Layer, Schema, Stream } from "effect"
import { bind, bindingProblems, Bindings, formBindingProblems } from "./internal/bindings.ts"
import { fileNameOf, readImages, type RequestBody } from "./internal/body.ts"
import { connect } from "./internal/connection.ts"
import * as KeptResults from "./internal/keptResults.ts"
import { toGenerator } from "./internal/operations.ts"
import type * as Upstream from "./internal/upstream.ts"
import * as UpstreamOptions from "./UpstreamOptions.ts"

/** Options of the driver. `call_timeout` is 3 minutes by default, and `response_bytes_max` 64 MiB. */
export const Options = Schema.Struct({
  ...UpstreamOptions.fields,
  /** The address of the API. Default `https://api.openai.com/v1`. */
  base_url: Schema.optionalKey(UpstreamOptions.BaseUrl),
  /** Sent as `Authorization: Bearer`. Default: none. */
  api_key: Schema.optionalKey(Driver.Secret),
  /** Bytes of images that are in memory until they are collected. Default 256 MiB. */
  kept_bytes_max: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThan(0)))
})
/** Type of `Options`. */
export type Options = typeof Options.Type

/** Options of a model. */
export const ModelOptions = Schema.Struct({
  /** The name of the model at the upstream. */
  model: Schema.NonEmptyString,
  /** Fields of every request, such as `quality`. */
  fields: Schema.optionalKey(
    Schema.Record(Schema.String, Schema.Union([Schema.String, Schema.Finite, Schema.Boolean]))
  ),
  /** Where parameters go. `to` is the name of a field, such as `size`. The field `prompt` is bound already. */
  bindings: Schema.optionalKey(Bindings)
})
/** Type of `ModelOptions`. */
export type ModelOptions = typeof ModelOptions.Type

/** Creates the generator. Its connections close with the scope. */
export const make = Effect.fnUntraced(function*(options: Options) {
  const { api_key, base_url = "https://api.openai.com/v1", kept_bytes_max = 256 * 1024 * 1024, ...given } = options
  const limits = { call_timeout: Duration.minutes(3), response_bytes_max: 64 * 1024 * 1024, ...given }
  const { download, upstream } = yield* connect({ baseUrl: base_url, apiKey: api_key }, limits)
  const results = KeptResults.make(kept_bytes_max)
  return toGenerator({
    name: "OpenAiImages",
    operation: Operation,
    submit: makeSubmit(upstream, results),
    poll: ({ id }) => Effect.sync(() => results.get(id) === undefined ? Generator.failed(lost) : Generator.succeeded),
    // The work has ended when `submit` returns.
    cancel: () => Effect.void,
    collect: Effect.fnUntraced(function*({ id }) {
      const result = results.get(id)
      if (result === undefined) return yield* new GeneratorError({ reason: lost })
      if ("bytes" in result) return { mime: mimeOf(result.bytes), body: Stream.succeed(result.bytes) }
      const { body, mime = unknownMime } = yield* download(result.url)
      return { mime, body }
    })
  })
})

/** Provides the generator. */
export const layer = (options: Options): Layer.Layer<Generator.Generator> =>
  Layer.effect(Generator.Generator, make(options))

export default Driver.make({
  options: Options,
  modelOptions: ModelOptions,
  supports: { modes: ["text_to_image", "image_to_image"] },
  check: (model, { bindings = [] }) => [
    ...bindingProblems(model, bindings),
    ...formBindingProblems(bindings, ownFields, "image[]")
  ],
  layer
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const Operation = Schema.Struct({ driver: Schema.Literal("openai-images"), id: Schema.NonEmptyString })
type Operation = typeof Operation.Type

/** A response with the image as base64 or as a URL. Fields that the driver does not read are ignored. */
const Images = Schema.Struct({
  data: Schema.NonEmptyArray(Schema.Union([
    Schema.Struct({ b64_json: Schema.Uint8ArrayFromBase64 }),
    Schema.Struct({ url: Schema.NonEmptyString })
  ]))
})

const optionsOf = Driver.optionsOf(ModelOptions)

/** The image was in the memory of a process that has stopped, or was dropped. */
const lost = permanent("gone")

/** Names of fields that the driver sends itself. */
const ownFields = ["prompt", "model", "n", "image", "image[]"]

const makeSubmit = (upstream: Upstream.Upstream, results: KeptResults.KeptResults) =>
  Effect.fnUntraced(function*(request: GenerationRequest) {
    const { bindings = [], fields = {}, model } = yield* optionsOf(request)
    const bound = bind(bindings, request, []).map(({ to, value }) => [to, value] as const)
    const values = { ...fields, ...Object.fromEntries(bound), model, prompt: request.prompt, n: 1 }
    const images = yield* readImages(request)
    const body: RequestBody = images.length === 0 ? { json: values } : {
      form: [
        ...Object.entries(values).map(([name, value]) => ({ name, value: textOf(value) })),
        ...images.map(({ bytes, mime }) => ({ name: "image[]", fileName: fileNameOf("image", mime), mime, bytes }))
      ]
    }
    const target = images.length === 0 ? "/images/generations" : "/images/edits"
    const { data: [image] } = yield* upstream.call({ method: "POST", target, body }, Images)
    yield* results.keep(request.id, "url" in image ? image : { bytes: image.b64_json })
    const operation: Operation = { driver: "openai-images", id: request.id }
    return operation
  })

const textOf = (value: Schema.Json): string => typeof value === "string" ? value : JSON.stringify(value)

const unknownMime = "application/octet-stream"

/** Returns the media type by the first bytes. The service checks all of them itself. */
const mimeOf = (bytes: Uint8Array): string => {
  const head = Buffer.from(bytes.subarray(0, 12)).toString("latin1")
  if (head.startsWith("\x89PNG")) return "image/png"
  if (head.startsWith("\xff\xd8\xff")) return "image/jpeg"
  return head.startsWith("RIFF") && head.endsWith("WEBP") ? "image/webp" : unknownMime
}
