/** The API for clients as one value: servers implement it, clients and the OpenAPI document derive from it. */
import { Schema } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { BearerAuth, ContentAuth, Envelope } from "./Access.ts"
import { Account } from "./Account.ts"
import { CreatedResponse, CreateRequest, Generation, GenerationList, ReplayedResponse } from "./Generation.ts"
import { Health, Monitoring } from "./HealthApi.ts"
import { ImageRequest, ImageResponse } from "./Image.ts"
import { documentation } from "./internal/documentation.ts"
import { creationErrors } from "./internal/errorCodes.ts"
import { optionalParameter, parameter, requestTime } from "./internal/fields.ts"
import { jobFilters, KeyFilter, ModelFilter, PromptFilter } from "./internal/filters.ts"
import { complete } from "./internal/openApi.ts"
import { operation } from "./internal/operation.ts"
import { pageQueryById } from "./internal/pages.ts"
import { jobId } from "./internal/paths.ts"
import { Model, ModelList } from "./Model.ts"
import * as Policy from "./RequestPolicy.ts"
import { IdempotencyKey, Seconds } from "./Scalar.ts"
import { imageTypes, Upload } from "./Upload.ts"
import { UsageReport } from "./Usage.ts"
import { WebhookEvent, WebhookTest } from "./Webhook.ts"

/** Creates, lists, reads, follows and cancels jobs. */
export class Generations extends HttpApiGroup.make("generations").add(
  operation({
    policy: Policy.creating,
    errors: creationErrors,
    summary: "Create a job",
    description: "Charges the plan group in `plan`. Repeating a request with the same `Idempotency-Key` and body " +
      "returns the first job and charges nothing. Without a key, so does repeating the body within 120 seconds."
  }, (error) =>
    HttpApiEndpoint.post("create", "/generations", {
      headers: { "idempotency-key": Schema.optionalKey(IdempotencyKey) },
      payload: CreateRequest,
      success: [CreatedResponse, ReplayedResponse],
      error
    }).annotate(HttpApi.PayloadParseOptions, { onExcessProperty: "error", errors: "all" })),
  operation({
    policy: Policy.reading,
    summary: "List jobs",
    description:
      "Newest first. Pass `next_cursor` of one page as `cursor` for the next page. With `model`, `key` or `q`, a page " +
      "can have fewer jobs than `limit`, or none, although another one follows."
  }, (error) =>
    HttpApiEndpoint.get("list", "/generations", {
      query: {
        ...jobFilters,
        model: Schema.optionalKey(ModelFilter),
        key: Schema.optionalKey(KeyFilter),
        from: Schema.optionalKey(requestTime("Returns only jobs created at this time or later.")),
        to: Schema.optionalKey(requestTime("Returns only jobs created before this time.")),
        q: Schema.optionalKey(PromptFilter),
        ...pageQueryById
      },
      success: GenerationList,
      error
    })),
  operation({
    policy: Policy.reading,
    errors: ["not_found"],
    summary: "Get a job",
    description: "With `wait`, responds when the job has ended, or after that many seconds."
  }, (error) =>
    HttpApiEndpoint.get("get", "/generations/:id", {
      params: jobId,
      query: { wait: Schema.optionalKey(Seconds) },
      success: Generation,
      error
    })),
  operation({
    policy: Policy.reading,
    errors: ["not_found"],
    summary: "Follow a job",
    description:
      "Server-sent events named `generation` with the job as data: one for the current state, then one for " +
      "each change. The stream ends after the final state. If 20 requests of the key are already waiting or " +
      "streaming, it ends after the current state."
  }, (error) =>
    HttpApiEndpoint.get("events", "/generations/:id/events", {
      params: jobId,
      success: HttpApiSchema.StreamSse({ data: Generation }),
      error
    })),
  operation(
    {
      policy: Policy.changing,
      errors: ["not_found", "not_cancellable", "payload_too_large"],
      summary: "Cancel a job",
      description: "Cancels a job that has not started and refunds it in full."
    },
    (error) => HttpApiEndpoint.post("cancel", "/generations/:id/cancel", { params: jobId, success: Generation, error })
  )
).middleware(BearerAuth).prefix("/v1")
  .annotate(OpenApi.Description, "Create, list, read, follow and cancel jobs.")
{}

const file = <const Name extends string>(name: Name, summary: string) =>
  operation({
    policy: Policy.downloading,
    errors: [
      "not_found",
      "result_not_found",
      "result_not_ready",
      "result_expired",
      "precondition_failed",
      "range_not_satisfiable",
      "download_limited"
    ],
    summary,
    description: "Supports byte ranges and conditional requests. Requires an API key or a signed URL."
  }, (error) =>
    HttpApiEndpoint.get(name, `/generations/:id/${name}`, {
      params: jobId,
      query: {
        exp: optionalParameter("The Unix time at which the signed URL expires. Requires `sig`."),
        sig: optionalParameter("The signature of the URL. Requires `exp`."),
        download: optionalParameter("`1` sets `Content-Disposition: attachment`.")
      },
      headers: {
        "range": optionalParameter(
          "One byte range, `bytes=<start>-<end>`. With several ranges the whole file is returned."
        ),
        "if-range": optionalParameter("The range applies only if this `ETag` or date is current."),
        "if-match": optionalParameter("`ETag`s. If none of them is current, the response is 412."),
        "if-unmodified-since": optionalParameter(
          "A date. If the file was modified after it, the response is 412. Ignored with `If-Match`."
        ),
        "if-none-match": optionalParameter(
          "`ETag`s of the caller's copies. If one of them is current, the response is 304."
        )
      },
      success: HttpApiSchema.StreamUint8Array({ contentType: "*/*" }),
      error
    }))

/** Downloads results. HEAD responds like GET, without the body. */
export class Content extends HttpApiGroup.make("content").add(
  file("content", "Download the result"),
  file("preview", "Download the preview of an image, at most 1024 pixels on the long side"),
  file("thumb", "Download the thumbnail, at most 256 pixels on the long side"),
  file("poster", "Download the first frame of a video")
).middleware(ContentAuth).prefix("/v1")
  .annotate(OpenApi.Description, "Download results with an API key or a signed URL.")
{}

/** Creates images in one request, in the shape of common client libraries. */
export class Images extends HttpApiGroup.make("images").add(
  operation({
    policy: Policy.creating,
    errors: [
      ...creationErrors,
      "plan_required",
      "plan_conflict",
      "model_kind_mismatch",
      "result_expired",
      "generation_failed",
      "download_limited",
      "generation_pending"
    ],
    summary: "Create an image",
    description:
      "For client libraries whose base URL is `{base_url}/v1`. Waits for the image. If that takes too long, " +
      "responds with 504 `generation_pending`; repeating the request waits for the same job."
  }, (error) =>
    HttpApiEndpoint.post("generate", "/images/generations", {
      headers: {
        "idempotency-key": Schema.optionalKey(IdempotencyKey),
        "x-plan": optionalParameter(
          "The plan group to charge, like `plan` in the body. Models of the Studio plan require one of the two."
        )
      },
      payload: ImageRequest,
      success: ImageResponse,
      error
    }).annotate(HttpApi.PayloadParseOptions, { errors: "all" }))
).middleware(BearerAuth).prefix("/v1")
  .annotate(OpenApi.Description, "Create images in the shape of common client libraries.")
{}

/** Uploads images that jobs start from. */
export class Uploads extends HttpApiGroup.make("uploads").add(
  operation({
    policy: Policy.uploading,
    errors: ["invalid_image", "payload_too_large", "request_timeout", "unsupported_media_type"],
    summary: "Upload an image",
    description:
      "PNG, JPEG or WebP, as the body or as the part `file` of multipart/form-data. Any number of jobs can use " +
      "it for 24 hours as `upload_id` of an input image."
  }, (error) =>
    HttpApiEndpoint.post("create", "/uploads", {
      payload: HttpApiSchema.StreamUint8Array({ contentType: imageTypes }),
      success: Upload.pipe(HttpApiSchema.status(201)),
      error
    })),
  operation({
    policy: Policy.changing,
    errors: ["upload_not_found"],
    summary: "Delete an upload",
    description: "Jobs that were created with it are not affected."
  }, (error) =>
    HttpApiEndpoint.delete("delete", "/uploads/:id", {
      params: { id: parameter("The id of the upload.") },
      success: HttpApiSchema.NoContent,
      error
    }))
).middleware(BearerAuth).prefix("/v1")
  .annotate(OpenApi.Description, "Upload images that jobs start from.")
{}

/** Lists the models. */
export class Models extends HttpApiGroup.make("models").add(
  operation(
    {
      policy: Policy.reading,
      summary: "List models",
      description: "All models of the service, also paused ones, with the parameters that they accept and their prices."
    },
    (error) => HttpApiEndpoint.get("list", "/models", { success: ModelList, error })
  ),
  operation(
    {
      policy: Policy.reading,
      errors: ["model_not_found"],
      summary: "Get a model",
      description: "One model with the parameters that it accepts and its prices."
    },
    (error) =>
      HttpApiEndpoint.get("get", "/models/:id", {
        params: { id: parameter("The id of the model.") },
        success: Model,
        error
      })
  )
).middleware(BearerAuth).prefix("/v1")
  .annotate(OpenApi.Description, "The models of the service.")
{}

/** Reports the account of the API key and its usage. */
export class AccountReports extends HttpApiGroup.make("account").add(
  operation({
    policy: Policy.reporting,
    summary: "Get the account",
    description: "Both plan groups, their limits, and the download limits."
  }, (error) => HttpApiEndpoint.get("get", "/account", { success: Account, error })),
  operation({
    policy: Policy.reporting,
    errors: ["invalid_range"],
    summary: "Get the usage by day",
    description:
      "Jobs by the UTC day on which they ended, plan group, model and kind, and with `group_by=key` by API key. " +
      "At most 31 days, and 10,000 rows by API key."
  }, (error) =>
    HttpApiEndpoint.get("usage", "/usage", {
      query: {
        from: optionalParameter("The first UTC day. Default: 6 days before `to`."),
        to: optionalParameter("The last UTC day, inclusive. Default: today."),
        group_by: Schema.optionalKey(
          Schema.Literal("key").annotate({
            description: "`key` also groups the jobs by the API key that created them."
          })
        )
      },
      success: UsageReport,
      error
    }))
).middleware(BearerAuth).prefix("/v1")
  .annotate(OpenApi.Description, "The account of the API key and its usage.")
{}

/** The API of a listener for clients, without readiness and metrics. */
export class ClientApi extends HttpApi.make("kinora")
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
  .annotateMerge(documentation(
    "Kinora",
    "Images and videos from a prompt, as asynchronous jobs: create a job, poll it, download its result.",
    complete
  ))
{}

/** The API for clients with readiness and metrics, as a single listener serves it. */
export class Api extends ClientApi.add(Monitoring.middleware(Envelope)) {}

/** The API of a listener for operators alone, without the operator API. */
export class MonitoringApi extends HttpApi.make("kinora")
  .add(Health)
  .add(Monitoring)
  .middleware(Envelope)
{}
