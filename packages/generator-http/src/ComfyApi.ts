/**
 * Driver for the Comfy API v2: Comfy Cloud, its deployments, and own servers behind
 * comfy-api-proxy. A model is a workflow in API format with bindings to the inputs of its nodes.
 *
 * The id of the request is the `Idempotency-Key`. The API rejects the second request with a key
 * and does not return the job of the first, so a submit without response has an unknown outcome.
 */
import * as Driver from "@kinora/generator/Driver"
import { type GenerationRequest, Kind } from "@kinora/generator/GenerationRequest"
import * as Generator from "@kinora/generator/Generator"
import { UnknownOutcome } from "@kinora/generator/GeneratorError"
import { permanent } from "@kinora/generator/ProviderFailure"
import { Effect, Layer, Schema } from "effect"
import { bind } from "./internal/bindings.ts"
import { fileNameOf, type ReadImage, readImages } from "./internal/body.ts"
import { connectToJobs } from "./internal/connection.ts"
import type { HttpFailure } from "./internal/failures.ts"
import { collectFrom, ignoreRejection, makeStatusOf, toGenerator } from "./internal/operations.ts"
import { serverFields } from "./internal/sharedOptions.ts"
import * as Upstream from "./internal/upstream.ts"
import * as Workflow from "./internal/workflow.ts"
import * as UpstreamOptions from "./UpstreamOptions.ts"

/** Options of the driver. */
export const Options = Schema.Struct({
  ...serverFields,
  /** The address of the server without `/api/v2`. Default `https://cloud.comfy.org`. */
  base_url: Schema.optionalKey(UpstreamOptions.BaseUrl)
})
/** Type of `Options`. */
export type Options = typeof Options.Type

/** Options of a model: its workflow and the bindings to inputs of its nodes. */
export const ModelOptions = Workflow.Options
/** Type of `ModelOptions`. */
export type ModelOptions = typeof ModelOptions.Type

/** Creates the generator. Its connections close with the scope. */
export const make = Effect.fnUntraced(function*(options: Options) {
  const { download, pollInterval, upstream } = yield* connectToJobs(options, { baseUrl: "https://cloud.comfy.org" })
  const get = (target: string) => upstream.call({ method: "GET", target }, Job)
  return toGenerator({
    name: "ComfyApi",
    operation: Operation,
    submit: makeSubmit(upstream),
    poll: ({ self }) => Effect.map(get(self), (job) => statusOf(job, pollInterval)),
    cancel: ({ cancel }) => ignoreRejection(upstream.tell({ method: "POST", target: cancel, repeat: "safe" })),
    collect: Effect.fnUntraced(function*({ kind, node, self }) {
      const { outputs } = yield* get(self)
      const file = outputs.find(({ node_id, type }) => type === kind && (node === null || node_id === node))
      return yield* collectFrom(download, file && absolute(upstream, file.url), file?.content_type)
    })
  })
})

/** Provides the generator. */
export const layer = (options: Options): Layer.Layer<Generator.Generator> =>
  Layer.effect(Generator.Generator, make(options))

export default Driver.make({ options: Options, modelOptions: ModelOptions, check: Workflow.problems, layer })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const urlLengthMax = 2048

const UpstreamUrl = Schema.String.check(Schema.isMaxLength(urlLengthMax))

const Operation = Schema.Struct({
  driver: Schema.Literal("comfy-api"),
  kind: Kind,
  node: Schema.NullOr(Schema.String),
  self: UpstreamUrl,
  cancel: UpstreamUrl
})
type Operation = typeof Operation.Type

/** Response of an upload. */
const Asset = Schema.Struct({ id: Upstream.UpstreamId })

/** A job. Fields that the driver does not read are ignored. */
const Job = Schema.Struct({
  status: Schema.String,
  progress: Schema.optionalKey(Schema.NullOr(Schema.Struct({ value: Schema.Number }))),
  outputs: Schema.Array(Schema.Struct({
    node_id: Schema.String,
    type: Schema.String,
    content_type: Schema.String,
    url: Schema.String
  })),
  urls: Schema.Struct({ self: UpstreamUrl, cancel: UpstreamUrl })
})

const optionsOf = Driver.optionsOf(ModelOptions)

/** Links are absolute, or relative to the origin. A path below `base_url` would have a prefix twice. */
const absolute = ({ origin }: Upstream.Upstream, link: string): string => link.startsWith("/") ? origin + link : link

const makeSubmit = (upstream: Upstream.Upstream) => {
  const upload = (image: ReadImage) =>
    Effect.map(
      upstream.call({
        method: "POST",
        target: "/api/v2/assets",
        body: {
          form: [
            { name: "file", fileName: fileNameOf("image", image.mime), mime: image.mime, bytes: image.bytes },
            { name: "content_type", value: image.mime },
            { name: "file_path", value: fileNameOf("image", image.mime) }
          ]
        },
        // Equal files are stored once.
        repeat: "safe"
      }, Asset),
      ({ id }): Schema.Json => ({ __type: "core/ASSET", info: { id } })
    )

  return Effect.fnUntraced(function*(request: GenerationRequest) {
    const { bindings, output_node: node = null, workflow } = yield* optionsOf(request)
    yield* Workflow.checkImages(request, bindings)
    const images = yield* Effect.forEach(yield* readImages(request), upload)
    const { urls } = yield* upstream.call({
      method: "POST",
      target: "/api/v2/jobs",
      headers: { "idempotency-key": encodeURIComponent(request.id) },
      body: { json: { workflow: Workflow.fill(workflow, bind(bindings, request, images)) } },
      reasonOf: reasonOfSubmit
    }, Job)
    const operation: Operation = {
      driver: "comfy-api",
      kind: request.kind,
      node,
      self: absolute(upstream, urls.self),
      cancel: absolute(upstream, urls.cancel)
    }
    // Rejected before the operation is stored: the credentials are sent to these URLs.
    yield* Effect.forEach([operation.self, operation.cancel], upstream.resolve, { discard: true })
    return operation
  })
}

/** The operator wrote the workflow, so clients cannot correct it. */
const reasonOfSubmit = ({ codes, status }: HttpFailure) => {
  if (codes.includes("idempotency_key_reuse")) return new UnknownOutcome()
  return codes.some((code) => workflowCodes.has(code)) || status === 400 ? permanent("failed") : undefined
}

/** Codes of workflows that the server cannot run. */
const workflowCodes: ReadonlySet<string> = new Set([
  "invalid_workflow",
  "workflow_format_ui",
  "missing_asset",
  "deployment_stopped"
])

const statusOf = makeStatusOf({
  succeeded: "succeeded",
  failed: ["failed", "canceled", "expired"],
  failureOf: () => permanent("failed"),
  progressOf: ({ progress }: typeof Job.Type) => progress?.value
})
