/** The interface as one value: the server implements it, the client and the OpenAPI document derive from it. */
import { Schema } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { BearerAuth, ContentAuth, Envelope } from "./Access.ts"
import {
  ConflictResponse,
  GoneResponse,
  NotFoundResponse,
  PayloadTooLargeResponse,
  PaymentRequiredResponse,
  RangeNotSatisfiableResponse,
  ServiceUnavailableResponse,
  UnprocessableContentResponse,
  UnsupportedMediaTypeResponse
} from "./ApiError.ts"
import { CreatedResponse, CreateGenerationRequest, Generation, ReplayedResponse } from "./Generation.ts"
import { complete } from "./internal/openApi.ts"
import { ModelList } from "./Model.ts"
import { IdempotencyKey, Seconds } from "./Scalar.ts"

const id = { id: Schema.String }

/** Creating, reading and cancelling jobs. */
export class Generations extends HttpApiGroup.make("generations").add(
  HttpApiEndpoint.post("create", "/generations", {
    headers: { "idempotency-key": Schema.optionalKey(IdempotencyKey) },
    payload: CreateGenerationRequest,
    success: [CreatedResponse, ReplayedResponse],
    error: [
      PaymentRequiredResponse,
      NotFoundResponse,
      ConflictResponse,
      PayloadTooLargeResponse,
      UnsupportedMediaTypeResponse,
      UnprocessableContentResponse
    ]
  })
    .annotate(HttpApi.PayloadParseOptions, { onExcessProperty: "error", errors: "all" })
    .annotateMerge(OpenApi.annotations({
      summary: "Create a job",
      description: "Charges the group named in `plan`. The same `Idempotency-Key` with the same body returns the " +
        "first job and charges once; without a key, so does an identical request within 120 seconds."
    })),
  HttpApiEndpoint.get("get", "/generations/:id", {
    params: id,
    query: { wait: Schema.optionalKey(Seconds) },
    success: Generation,
    error: NotFoundResponse
  }).annotateMerge(OpenApi.annotations({
    summary: "Get a job",
    description: "With `wait`, the answer comes once the job is final, or after that many seconds; " +
      "values above 60 are treated as 60."
  })),
  HttpApiEndpoint.post("cancel", "/generations/:id/cancel", {
    params: id,
    success: Generation,
    error: [NotFoundResponse, ConflictResponse]
  }).annotateMerge(OpenApi.annotations({
    summary: "Cancel a job",
    description: "Cancels a job that has not started running, and refunds it in full."
  }))
).middleware(BearerAuth).prefix("/v1") {}

const file = <const Name extends string>(name: Name, summary: string) =>
  HttpApiEndpoint.get(name, `/generations/:id/${name}`, {
    params: id,
    query: {
      /** Unix seconds until which the signed URL is good. */
      exp: Schema.optionalKey(Schema.String),
      sig: Schema.optionalKey(Schema.String),
      /** `1` asks for `Content-Disposition: attachment`. */
      download: Schema.optionalKey(Schema.String)
    },
    headers: {
      "range": Schema.optionalKey(Schema.String),
      "if-range": Schema.optionalKey(Schema.String),
      "if-none-match": Schema.optionalKey(Schema.String)
    },
    success: HttpApiSchema.StreamUint8Array({ contentType: "*/*" }),
    error: [NotFoundResponse, ConflictResponse, GoneResponse, RangeNotSatisfiableResponse]
  }).annotateMerge(OpenApi.annotations({ summary }))

/** Downloading results. HEAD is answered like GET, without the bytes. */
export class Content extends HttpApiGroup.make("content").add(
  file("content", "Download the result"),
  file("preview", "Download the preview of an image, at most 1024 pixels on the long side"),
  file("thumb", "Download the thumbnail, at most 256 pixels on the long side"),
  file("poster", "Download the first frame of a video")
).middleware(ContentAuth).prefix("/v1") {}

/** The models on sale. */
export class Models extends HttpApiGroup.make("models").add(
  HttpApiEndpoint.get("list", "/models", { success: ModelList })
    .annotateMerge(OpenApi.annotations({ summary: "List models" }))
).middleware(BearerAuth).prefix("/v1") {}

/** What a load balancer asks (D49). Needs no key. */
export class Health extends HttpApiGroup.make("health").add(
  HttpApiEndpoint.get("live", "/healthz", { success: Schema.Struct({ status: Schema.Literal("ok") }) })
    .annotateMerge(OpenApi.annotations({ summary: "Whether the process is up" })),
  HttpApiEndpoint.get("ready", "/readyz", {
    success: Schema.Struct({ status: Schema.Literal("ready") }),
    error: ServiceUnavailableResponse
  }).annotateMerge(OpenApi.annotations({ summary: "Whether the service can take requests" }))
) {}

/** The whole interface. */
export class Api extends HttpApi.make("kinora")
  .add(Generations)
  .add(Content)
  .add(Models)
  .add(Health)
  .middleware(Envelope)
  .annotate(HttpApi.QueryParseOptions, { errors: "all" })
  .annotateMerge(OpenApi.annotations({
    title: "Kinora",
    version: "1.0.0",
    description: "Images and videos from a prompt, as asynchronous jobs: create a job, poll it, download its result. " +
      "Every error is the envelope `{ error: { code, message, plan, details } }`. An unknown path is 404 `not_found`; " +
      "a known path with another method is 405 `method_not_allowed` with `Allow`.",
    license: { name: "Apache-2.0" }
  }))
  // The annotation's type knows no more than that the document is a record.
  .annotate(OpenApi.Transform, (spec) => complete(spec as OpenApi.OpenAPISpec))
{}
