/** Jobs and the requests that create them. */
import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { field, flag, int, nullable, object, optional, text, time } from "./internal/fields.ts"
import { page } from "./internal/pages.ts"
import { BooleanText, DateTime, Int64, Plan } from "./Scalar.ts"

/** The next step until a job has ended. */
export const Next = object("Next", "What to do until the job has ended.", {
  action: field(Schema.Literals(["poll"]), "Get the job again."),
  after_seconds: int("Seconds to wait before the next poll, at most 30.")
})

/** An input image of a job, without its bytes. */
export const PublicImage = object("PublicImage", "An input image of the job, without its bytes.", {
  index: int("Position in `params.images`, from 0."),
  mime: text("The media type of the content."),
  width: int("Width in pixels, upright."),
  height: int("Height in pixels, upright.")
})

/** The parameters of a job, including the model's defaults. */
export const PublicParams = object("PublicParams", "The parameters of the job, including the model's defaults.", {
  aspect_ratio: optional(Schema.String, "The aspect ratio, such as `16:9`."),
  duration: optional(Int64, "The length of a video in seconds."),
  resolution: optional(Schema.String, "The resolution, such as `2k`."),
  images: optional(Schema.NullOr(Schema.Array(PublicImage)), "The input images.")
})

/** The result of a job. */
export const PublicOutput = object("PublicOutput", "The result of the job.", {
  url: text("A signed URL of the result. It requires no API key."),
  mime: text("The media type of the result."),
  bytes: int("The size of the result in bytes."),
  expires_at: time("When the URL expires.")
})

/** Why a job failed. */
export const PublicError = object("PublicError", "Why the job failed.", {
  code: text("The error code, for programs."),
  message: text("The error, for people."),
  reason: nullable(Schema.String, "A short machine-readable reason, if there is one.")
})

/** The kinds of results. */
export const Kind = Schema.Literals(["image", "video"])

/** The states of a job. `completed`, `failed` and `cancelled` are final. */
export const Status = Schema.Literals(["pending", "queued", "processing", "completed", "failed", "cancelled"])

/** A job. Every property but `next` is always present, `null` if it does not apply. */
export const Generation = object("Generation", "A job.", {
  id: text("The id of the job, `gen_…`."),
  model: text("The id of the model."),
  kind: field(Kind, "What the model produces."),
  mode: text("The mode, one of the model's `capabilities`, such as `text_to_image`."),
  plan: field(Plan, "The plan group that was charged."),
  status: field(Status, "The state of the job. `completed`, `failed` and `cancelled` are final."),
  prompt: nullable(Schema.String, "The prompt."),
  params: field(PublicParams, "The parameters, including the model's defaults."),
  cost_credits: nullable(Int64, "Credits charged; `null` for the Studio plan."),
  quota_kind: nullable(Kind, "The daily quota charged; `null` for the Credits plan."),
  watermark: flag("Whether the result has a watermark."),
  refunded: flag("Whether the charge was refunded."),
  error_code: nullable(Schema.String, "The `code` of `error`."),
  error: nullable(PublicError, "Why the job failed; `null` unless `status` is `failed`."),
  output: nullable(PublicOutput, "The result; `null` until the job is completed and after the result has expired."),
  preview_url: nullable(Schema.String, "A signed URL of the preview, for image jobs."),
  thumb_url: nullable(Schema.String, "A signed URL of the thumbnail."),
  poster_url: nullable(Schema.String, "A signed URL of the first frame, for video jobs."),
  result_expires_at: nullable(DateTime, "When the result expires."),
  queued_at: time("When the job was queued."),
  started_at: nullable(DateTime, "When the job started."),
  finished_at: nullable(DateTime, "When the job ended."),
  created_at: time("When the job was created."),
  next: optional(Next, "What to do next; absent once the job has ended.")
})
/** See the schema of the same name. */
export type Generation = typeof Generation.Type

/** A page of jobs, newest first. */
export const GenerationList = page("GenerationList", Generation, "jobs, newest first")
/** See the schema of the same name. */
export type GenerationList = typeof GenerationList.Type

/** An input image: exactly one of `data` and `upload_id`. */
export const InputImage = object("InputImage", "An input image: exactly one of `data` and `upload_id`.", {
  data: optional(Schema.String, "The image in base64, or as a `data:` URL."),
  mime: optional(Schema.String, "The media type. It must match the content."),
  upload_id: optional(Schema.String, "The id of an upload.")
})

/** The parameters of a request for a job. */
export const Params = object("Params", "What to generate. The model's `params_schema` lists the values it accepts.", {
  prompt: text("A description of the result."),
  aspect_ratio: optional(Schema.String, "The aspect ratio, such as `16:9`."),
  duration: optional(Int64, "The length of a video in seconds."),
  mode: optional(
    Schema.String,
    "The mode, one of the model's `capabilities`. By default it follows from the model and the images."
  ),
  resolution: optional(Schema.String, "The resolution, such as `2k`."),
  images: optional(Schema.NullOr(Schema.Array(InputImage)), "Images that the job starts from.")
})

/**
 * The body of a request for a job. Unknown properties are rejected at every level. Its identifier in the OpenAPI
 * document is `CreateGenerationRequest`.
 */
export const CreateRequest = object("CreateGenerationRequest", "A request for a job.", {
  plan: field(Plan, "The plan group to charge. The service never switches to the other group."),
  model: text("The id of the model, from `GET /v1/models`."),
  params: field(Params, "What to generate.")
})
/** See the schema of the same name. */
export type CreateRequest = typeof CreateRequest.Type

/** A job and its URL. */
const located = { generation: Schema.toType(Generation), location: Schema.String }

/** The response to a request that created a job: 201. */
export class CreatedGeneration extends Schema.Class<CreatedGeneration>("CreatedGeneration")({
  ...located,
  /** The creation limit of the plan group: per minute, what is left, and the Unix time when the minute ends. */
  rateLimit: Schema.Struct({ limit: Schema.Int, remaining: Schema.Int, reset: Schema.Int })
}) {}

/** The response to a repeated request: 200 with the first job. Nothing was charged. */
export class ReplayedGeneration extends Schema.Class<ReplayedGeneration>("ReplayedGeneration")(located) {}

/** `CreatedGeneration` as a response. */
export const CreatedResponse = CreatedGeneration.pipe(HttpApiSchema.encodeToWithHeaders({
  body: Generation.pipe(HttpApiSchema.status(201)),
  headers: {
    "location": Schema.String,
    "idempotent-replayed": BooleanText,
    "x-ratelimit-limit": Schema.Int,
    "x-ratelimit-remaining": Schema.Int,
    "x-ratelimit-reset": Schema.Int
  }
}, {
  encode: ({ generation, location, rateLimit }) => ({
    body: generation,
    headers: {
      location,
      "idempotent-replayed": "false" as const,
      "x-ratelimit-limit": rateLimit.limit,
      "x-ratelimit-remaining": rateLimit.remaining,
      "x-ratelimit-reset": rateLimit.reset
    }
  }),
  decode: ({ body, headers }) =>
    new CreatedGeneration({
      generation: body,
      location: headers.location,
      rateLimit: {
        limit: headers["x-ratelimit-limit"],
        remaining: headers["x-ratelimit-remaining"],
        reset: headers["x-ratelimit-reset"]
      }
    })
}))

/** `ReplayedGeneration` as a response. */
export const ReplayedResponse = ReplayedGeneration.pipe(HttpApiSchema.encodeToWithHeaders({
  body: Generation.pipe(HttpApiSchema.status(200)),
  headers: { "location": Schema.String, "idempotent-replayed": BooleanText }
}, {
  encode: ({ generation, location }) => ({
    body: generation,
    headers: { location, "idempotent-replayed": "true" as const }
  }),
  decode: ({ body, headers }) => new ReplayedGeneration({ generation: body, location: headers.location })
}))

/** Returns the extension of the name of a file with this media type of results; `bin` for any other. */
export const fileExtensionOf = (mime: string): string => extensions.get(mime) ?? "bin"

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const extensions: ReadonlyMap<string, string> = new Map([
  ["image/png", "png"],
  ["image/jpeg", "jpg"],
  ["image/webp", "webp"],
  ["video/mp4", "mp4"],
  ["video/webm", "webm"]
])
