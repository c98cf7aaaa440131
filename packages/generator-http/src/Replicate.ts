/**
 * Driver for Replicate. The API has no idempotency. Input images are uploaded to Replicate,
 * which deletes them after 24 hours.
 */
import * as Driver from "@kinora/generator/Driver"
import { type GenerationRequest, Kind } from "@kinora/generator/GenerationRequest"
import * as Generator from "@kinora/generator/Generator"
import { GeneratorError } from "@kinora/generator/GeneratorError"
import { failureOfText, permanent } from "@kinora/generator/ProviderFailure"
import { Duration, Effect, Layer, Schema } from "effect"
import { bind, inputProblems, withPrompt } from "./internal/bindings.ts"
import { fileNameOf, type ReadImage, readImages } from "./internal/body.ts"
import { connectToJobs } from "./internal/connection.ts"
import { collectFrom, ignoreRejection, makeStatusOf, toGenerator } from "./internal/operations.ts"
import { resultUrl } from "./internal/resultUrl.ts"
import { callbackFields, inputFields } from "./internal/sharedOptions.ts"
import * as Upstream from "./internal/upstream.ts"

/** Options of the driver. `base_url` is `https://api.replicate.com/v1` by default. */
export const Options = Schema.Struct(callbackFields)
/** Type of `Options`. */
export type Options = typeof Options.Type

/** Options of a model. */
export const ModelOptions = Schema.Struct({
  /** The model, such as `owner/name` or `owner/name:version`. Models of the community need the version. */
  model: Schema.String.check(
    Schema.isPattern(/^[\w.-]+\/[\w.-]+(?::[0-9a-f]{64})?$/, { expected: "owner/name or owner/name:version" })
  ),
  ...inputFields,
  /** Time after which Replicate cancels the job itself, at least 5 seconds. Default: that of Replicate. */
  cancel_after: Schema.optionalKey(Schema.DurationFromString.check(
    Schema.makeFilter((time) => Duration.isGreaterThanOrEqualTo(time, Duration.seconds(5)), {
      expected: "at least 5 seconds"
    })
  ))
})
/** Type of `ModelOptions`. */
export type ModelOptions = typeof ModelOptions.Type

/** Creates the generator. Its connections close with the scope. */
export const make = Effect.fnUntraced(function*(options: Options) {
  const { download, pollInterval, upstream } = yield* connectToJobs(options, {
    baseUrl: "https://api.replicate.com/v1"
  })
  const get = (id: string) => upstream.call({ method: "GET", target: targetOf(id) }, Prediction)
  return toGenerator({
    name: "Replicate",
    callsBack: options.callbacks !== false,
    operation: Operation,
    submit: makeSubmit(upstream),
    poll: ({ id }) => Effect.map(get(id), (prediction) => statusOf(prediction, pollInterval)),
    cancel: ({ id }) =>
      ignoreRejection(upstream.tell({ method: "POST", target: `${targetOf(id)}/cancel`, repeat: "safe" })),
    collect: Effect.fnUntraced(function*({ id, kind }) {
      const { data_removed = false, output } = yield* get(id)
      if (data_removed) return yield* new GeneratorError({ reason: permanent("gone") })
      return yield* collectFrom(download, resultUrl(output, kind))
    })
  })
})

/** Provides the generator. */
export const layer = (options: Options): Layer.Layer<Generator.Generator> =>
  Layer.effect(Generator.Generator, make(options))

export default Driver.make({ options: Options, modelOptions: ModelOptions, check: inputProblems, layer })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const Operation = Schema.Struct({ driver: Schema.Literal("replicate"), id: Upstream.UpstreamId, kind: Kind })
type Operation = typeof Operation.Type

/** A job. Fields that the driver does not read are ignored. */
const Prediction = Schema.Struct({
  id: Upstream.UpstreamId,
  status: Schema.String,
  output: Schema.optionalKey(Schema.Unknown),
  error: Schema.optionalKey(Schema.Unknown),
  data_removed: Schema.optionalKey(Schema.Boolean)
})

/** An uploaded file. */
const UploadedFile = Schema.Struct({ urls: Schema.Struct({ get: Schema.String }) })

const optionsOf = Driver.optionsOf(ModelOptions)

const targetOf = (id: string) => `/predictions/${encodeURIComponent(id)}`

const makeSubmit = (upstream: Upstream.Upstream) => {
  const upload = ({ bytes, mime }: ReadImage) =>
    Effect.map(
      upstream.call({
        method: "POST",
        target: "/files",
        body: { form: [{ name: "content", fileName: fileNameOf("image", mime), mime, bytes }] },
        // A second copy of a file costs nothing.
        repeat: "safe"
      }, UploadedFile),
      ({ urls }) => urls.get
    )

  return Effect.fnUntraced(function*(request: GenerationRequest) {
    const { bindings = [], cancel_after, input: constants = {}, model } = yield* optionsOf(request)
    const images = yield* Effect.forEach(yield* readImages(request), upload)
    const bound = bind(withPrompt(bindings), request, images).map(({ to, value }) => [to, value] as const)
    const input = { ...constants, ...Object.fromEntries(bound) }
    const [name = "", version] = model.split(":")
    // Without the filter, Replicate also calls the URL for every output.
    const webhook = request.callbackUrl === undefined
      ? {}
      : { webhook: request.callbackUrl, webhook_events_filter: ["completed"] }
    const { id } = yield* upstream.call({
      method: "POST",
      ...(version === undefined
        ? { target: `/models/${name}/predictions`, body: { json: { input, ...webhook } } }
        : { target: "/predictions", body: { json: { version, input, ...webhook } } }),
      headers: cancel_after === undefined ? {} : { "cancel-after": `${Math.ceil(Duration.toSeconds(cancel_after))}s` }
    }, Prediction)
    const operation: Operation = { driver: "replicate", id, kind: request.kind }
    return operation
  })
}

const statusOf = makeStatusOf({
  succeeded: "succeeded",
  failed: ["failed", "canceled", "aborted"],
  failureOf: ({ error }: typeof Prediction.Type) => failureOfText(error)
})
