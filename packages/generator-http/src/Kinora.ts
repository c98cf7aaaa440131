/**
 * Driver for another Kinora service: its jobs are created by the jobs of this service.
 *
 * The id of the request is the idempotency key, so a request that was submitted twice is one
 * job there. That service charges the account of the API key, and refunds it if the job fails.
 */
import * as Driver from "@kinora/generator/Driver"
import { type GenerationRequest, Kind } from "@kinora/generator/GenerationRequest"
import * as Generator from "@kinora/generator/Generator"
import { type GeneratorError, Lost } from "@kinora/generator/GeneratorError"
import { permanent } from "@kinora/generator/ProviderFailure"
import { Duration, Effect, Layer, Schema, Stream } from "effect"
import { dataUrlOf, readImages } from "./internal/body.ts"
import { connect } from "./internal/connection.ts"
import { type Download, makeDownload } from "./internal/download.ts"
import * as Jobs from "./internal/kinora.ts"
import { toGenerator } from "./internal/operations.ts"
import * as Upstream from "./internal/upstream.ts"
import * as UpstreamOptions from "./UpstreamOptions.ts"

/** Options of the driver. */
export const Options = Schema.Struct({
  ...UpstreamOptions.fields,
  /** The address of the service, without `/v1`. */
  base_url: UpstreamOptions.BaseUrl,
  /** API key of an account of the service. */
  api_key: Driver.Secret,
  /** The plan group that the service charges. Default `credits`. */
  plan: Schema.optionalKey(Schema.Literals(["studio", "credits"])),
  /** Time between two polls of a job. Default: the time that the service recommends, 1 to 5 seconds. */
  poll_interval: Schema.optionalKey(Schema.DurationFromString)
})
/** Type of `Options`. */
export type Options = typeof Options.Type

/** Options of a model. */
export const ModelOptions = Schema.Struct({
  /** Id of the model at the service. */
  model: Schema.NonEmptyString
})
/** Type of `ModelOptions`. */
export type ModelOptions = typeof ModelOptions.Type

/** Creates the generator. Its connections close with the scope. */
export const make = Effect.fnUntraced(
  function*({ api_key, base_url, plan = "credits", poll_interval, ...limits }: Options) {
    const { download, upstream } = yield* connect({ baseUrl: base_url, apiKey: api_key }, limits)
    const downloadPoster = yield* makeDownload(upstream, { ...limits, result_bytes_max: posterBytesMax })
    return toGenerator({
      name: "Kinora",
      resubmit: "safe",
      operation: Operation,
      submit: makeSubmit(upstream, plan),
      poll: ({ id }) => poll(upstream, id, poll_interval),
      cancel: ({ id }) => cancel(upstream, id),
      collect: Effect.fnUntraced(function*({ id, kind }) {
        const { body, mime = "application/octet-stream" } = yield* download(`${pathOf(id)}/content`)
        const poster = kind === "video" ? yield* readPoster(downloadPoster(`${pathOf(id)}/poster`)) : undefined
        return { mime, body, poster }
      })
    })
  }
)

/** Provides the generator. */
export const layer = (options: Options): Layer.Layer<Generator.Generator> =>
  Layer.effect(Generator.Generator, make(options))

export default Driver.make({
  options: Options,
  modelOptions: ModelOptions,
  supports: { params: { aspect_ratio: "any", duration: "any", resolution: "any" } },
  layer
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const Operation = Schema.Struct({ driver: Schema.Literal("kinora"), id: Upstream.UpstreamId, kind: Kind })

const optionsOf = Driver.optionsOf(ModelOptions)

/** Bytes of a poster. */
const posterBytesMax = 8 * 1024 * 1024

const pathOf = (id: string) => `/v1/generations/${encodeURIComponent(id)}`

const makeSubmit = (upstream: Upstream.Upstream, plan: "studio" | "credits") =>
  Effect.fnUntraced(function*(request: GenerationRequest) {
    const { model } = yield* optionsOf(request)
    const { id: key, kind, mode, params, prompt } = request
    const { aspect_ratio, duration, resolution } = params
    const chosen = Object.entries({ aspect_ratio, duration, resolution }).filter(([, value]) => value !== undefined)
    // In the body and not uploaded first: a repeated request must be equal, and an upload has a new id each time.
    const images = (yield* readImages(request)).map((image) => ({ data: dataUrlOf(image), mime: image.mime }))
    const { id } = yield* upstream.call({
      method: "POST",
      target: "/v1/generations",
      headers: { "idempotency-key": encodeURIComponent(key) },
      body: {
        json: {
          plan,
          model,
          params: { ...Object.fromEntries(chosen), prompt, mode, ...(images.length === 0 ? {} : { images }) }
        }
      },
      repeat: "safe",
      // The service has no such model, or the key was used for another request.
      reasonOf: ({ codes, status }) =>
        status === 404 || codes.includes("idempotency_key_reused") ? permanent("failed") : undefined
    }, Jobs.Job)
    return { driver: "kinora" as const, id, kind }
  })

const poll = Effect.fnUntraced(function*(upstream: Upstream.Upstream, id: string, interval?: Duration.Duration) {
  const job = yield* upstream.call({
    method: "GET",
    target: `${pathOf(id)}?wait=1`,
    // Its database was restored to an earlier state. The same key creates the job again.
    reasonOf: ({ status }) => status === 404 ? new Lost() : undefined
  }, Jobs.Job)
  switch (job.status) {
    case "completed":
      return Generator.succeeded
    case "failed":
      return Generator.failed(Jobs.failureOf(job))
    case "cancelled":
      return Generator.failed(permanent("failed"))
    default:
      return Generator.pending(interval ?? Duration.seconds(job.next?.after_seconds ?? 1))
  }
})

/** A job that runs or has ended is not cancelled. */
const cancel = (upstream: Upstream.Upstream, id: string) =>
  upstream.tell({
    method: "POST",
    target: `${pathOf(id)}/cancel`,
    repeat: "safe",
    reasonOf: ({ status }) => status === 404 || status === 409 ? new Lost() : undefined
  }).pipe(Effect.catchIf(({ reason }) => reason._tag === "Lost", () => Effect.void))

/** Returns the poster, or `undefined` if there is none: the service can make one itself. */
const readPoster = <R>(download: Effect.Effect<Download, GeneratorError, R>) =>
  download.pipe(
    Effect.flatMap(({ body }) => Stream.runCollect(body)),
    Effect.map((parts) => new Uint8Array(Buffer.concat([...parts]))),
    Effect.orElseSucceed(() => undefined)
  )
