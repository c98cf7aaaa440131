/** The interface as one value: the server implements it, the client and the OpenAPI document derive from it. */
import { Schema } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { BearerAuth, ContentAuth, Envelope } from "./Access.ts"
import { Account } from "./Account.ts"
import {
  ConflictResponse,
  GatewayTimeoutResponse,
  GoneResponse,
  NotFoundResponse,
  PayloadTooLargeResponse,
  PaymentRequiredResponse,
  RangeNotSatisfiableResponse,
  ServiceUnavailableResponse,
  UnprocessableContentResponse,
  UnsupportedMediaTypeResponse
} from "./ApiError.ts"
import {
  CreatedResponse,
  CreateGenerationRequest,
  Generation,
  GenerationList,
  Kind,
  ReplayedResponse,
  Status
} from "./Generation.ts"
import { ImageRequest, ImageResponse } from "./Image.ts"
import { complete } from "./internal/openApi.ts"
import { Model, ModelList } from "./Model.ts"
import { IdempotencyKey, PageSize, Plan, Seconds } from "./Scalar.ts"
import { imageTypes, Upload } from "./Upload.ts"
import { UsageReport } from "./Usage.ts"
import { WebhookEvent, WebhookTest } from "./Webhook.ts"

const id = { id: Schema.String }

/** Creating, reading, following and cancelling jobs. */
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
  HttpApiEndpoint.get("list", "/generations", {
    query: {
      status: Schema.optionalKey(Status),
      kind: Schema.optionalKey(Kind),
      plan: Schema.optionalKey(Plan),
      limit: Schema.optionalKey(PageSize),
      cursor: Schema.optionalKey(Schema.String)
    },
    success: GenerationList
  }).annotateMerge(OpenApi.annotations({
    summary: "List jobs",
    description: "Newest first. `next_cursor` of one page is the `cursor` of the next."
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
  HttpApiEndpoint.get("events", "/generations/:id/events", {
    params: id,
    success: HttpApiSchema.StreamSse({ data: Generation }),
    error: NotFoundResponse
  }).annotateMerge(OpenApi.annotations({
    summary: "Follow a job",
    description: "A server-sent event `generation` with the job as data: one for its state now and one per change. " +
      "Ends after the final state. Counts as a long poll: beyond 20 at the same time per key, only the state now is sent."
  })),
  HttpApiEndpoint.post("cancel", "/generations/:id/cancel", {
    params: id,
    success: Generation,
    error: [NotFoundResponse, ConflictResponse, PayloadTooLargeResponse]
  }).annotateMerge(OpenApi.annotations({
    summary: "Cancel a job",
    description: "Cancels a job that has not started running, and refunds it in full."
  }))
).middleware(BearerAuth).prefix("/v1")
  .annotate(OpenApi.Description, "Creating, reading, following and cancelling jobs.")
{}

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
).middleware(ContentAuth).prefix("/v1")
  .annotate(OpenApi.Description, "Downloading results, with a key or by a signed URL.")
{}

/** Images in the shape of common client libraries (D20). */
export class Images extends HttpApiGroup.make("images").add(
  HttpApiEndpoint.post("generate", "/images/generations", {
    headers: {
      "idempotency-key": Schema.optionalKey(IdempotencyKey),
      "x-plan": Schema.optionalKey(Schema.String)
    },
    payload: ImageRequest,
    success: ImageResponse,
    error: [
      PaymentRequiredResponse,
      NotFoundResponse,
      ConflictResponse,
      GoneResponse,
      PayloadTooLargeResponse,
      UnsupportedMediaTypeResponse,
      UnprocessableContentResponse,
      GatewayTimeoutResponse
    ]
  })
    .annotate(HttpApi.PayloadParseOptions, { errors: "all" })
    .annotateMerge(OpenApi.annotations({
      summary: "Create an image",
      description:
        "For client libraries whose base URL is set to `{base_url}/v1`. Waits for the image; when it takes " +
        "too long, the answer is 504 `generation_pending`, and the same request once more waits on for the same job."
    }))
).middleware(BearerAuth).prefix("/v1")
  .annotate(OpenApi.Description, "Images in the shape of common client libraries.")
{}

/** Images that jobs start from, sent ahead (D19). */
export class Uploads extends HttpApiGroup.make("uploads").add(
  HttpApiEndpoint.post("create", "/uploads", {
    payload: HttpApiSchema.StreamUint8Array({ contentType: imageTypes }),
    success: Upload.pipe(HttpApiSchema.status(201)),
    error: [PayloadTooLargeResponse, UnsupportedMediaTypeResponse]
  }).annotateMerge(OpenApi.annotations({
    summary: "Upload an image",
    description:
      "PNG, JPEG or WebP, as the body or as the part `file` of multipart/form-data. Usable for 24 hours as " +
      "`upload_id` of input images, any number of times."
  })),
  HttpApiEndpoint.delete("delete", "/uploads/:id", {
    params: id,
    success: HttpApiSchema.NoContent,
    error: NotFoundResponse
  }).annotateMerge(OpenApi.annotations({
    summary: "Delete an upload",
    description: "Jobs that were created with it are not affected."
  }))
).middleware(BearerAuth).prefix("/v1")
  .annotate(OpenApi.Description, "Images that jobs start from, sent ahead.")
{}

/** The models on sale. */
export class Models extends HttpApiGroup.make("models").add(
  HttpApiEndpoint.get("list", "/models", { success: ModelList })
    .annotateMerge(OpenApi.annotations({ summary: "List models" })),
  HttpApiEndpoint.get("get", "/models/:id", { params: id, success: Model, error: NotFoundResponse })
    .annotateMerge(OpenApi.annotations({ summary: "Get a model" }))
).middleware(BearerAuth).prefix("/v1")
  .annotate(OpenApi.Description, "The models on sale.")
{}

/** What the account of the key has, and what it used. */
export class AccountReports extends HttpApiGroup.make("account").add(
  HttpApiEndpoint.get("get", "/account", { success: Account })
    .annotateMerge(OpenApi.annotations({
      summary: "Get the account",
      description: "Both plan groups side by side, their limits, and what of its results the account may download."
    })),
  HttpApiEndpoint.get("usage", "/usage", {
    query: { from: Schema.optionalKey(Schema.String), to: Schema.optionalKey(Schema.String) },
    success: UsageReport
  }).annotateMerge(OpenApi.annotations({
    summary: "Usage by day",
    description: "Jobs by the UTC day of their end, plan group, model and kind. At most 31 days; by default the last 7."
  }))
).middleware(BearerAuth).prefix("/v1")
  .annotate(OpenApi.Description, "What the account has, and what it used.")
{}

/** What load balancers and monitors ask (D49). Needs no key. */
export class Health extends HttpApiGroup.make("health").add(
  HttpApiEndpoint.get("live", "/healthz", { success: Schema.Struct({ status: Schema.Literal("ok") }) })
    .annotateMerge(OpenApi.annotations({ summary: "Whether the process is up" })),
  HttpApiEndpoint.get("ready", "/readyz", {
    success: Schema.Struct({ status: Schema.Literal("ready") }),
    error: ServiceUnavailableResponse
  }).annotateMerge(OpenApi.annotations({ summary: "Whether the service can take requests" })),
  HttpApiEndpoint.get("metrics", "/metrics", {
    success: Schema.String.pipe(HttpApiSchema.asText()),
    error: NotFoundResponse
  }).annotateMerge(OpenApi.annotations({
    summary: "What this server has counted",
    description: "Prometheus text: totals of the whole server, nothing of an account. 404 where it is switched off."
  }))
).annotate(OpenApi.Description, "What load balancers and monitors ask. Needs no key.") {}

/** The whole interface. */
export class Api extends HttpApi.make("kinora")
  .add(Generations)
  .add(Content)
  .add(Images)
  .add(Uploads)
  .add(Models)
  .add(AccountReports)
  .add(Health)
  .middleware(Envelope)
  .annotate(HttpApi.QueryParseOptions, { errors: "all" })
  .annotate(HttpApi.AdditionalSchemas, [WebhookEvent, WebhookTest])
  .annotateMerge(OpenApi.annotations({
    title: "Kinora",
    version: "1.0.0",
    description: "Images and videos from a prompt, as asynchronous jobs: create a job, poll it, download its result. " +
      "Every error is the envelope `{ error: { code, message, plan, details } }`. An unknown path is 404 `not_found`; " +
      "a known path with another method is 405 `method_not_allowed` with `Allow`. HEAD goes wherever GET goes, and a `/` " +
      "at the end of a path changes nothing.",
    license: { name: "Apache-2.0", url: "https://www.apache.org/licenses/LICENSE-2.0" },
    servers: [{ url: "/", description: "The origin that this document came from." }]
  }))
  // The annotation's type knows no more than that the document is a record.
  .annotate(OpenApi.Transform, (spec) => complete(spec as OpenApi.OpenAPISpec))
{}
