/** The job object and the request that makes one. */
import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { BooleanText, DateTime, Int64, Plan } from "./Scalar.ts"

/** What to do while the job is not finished. */
export const Next = Schema.Struct({
  action: Schema.Literals(["poll"]),
  /** Seconds to wait before polling again; never more than 30 (D11). */
  after_seconds: Int64
}).annotate({ identifier: "Next" })

/** An input image as it was understood. Its bytes are not given back. */
export const PublicImage = Schema.Struct({
  index: Int64,
  mime: Schema.String,
  width: Int64,
  height: Int64
}).annotate({ identifier: "PublicImage" })

/** The parameters of the job, the model's defaults filled in (D17). */
export const PublicParams = Schema.Struct({
  aspect_ratio: Schema.optionalKey(Schema.String),
  duration: Schema.optionalKey(Int64),
  resolution: Schema.optionalKey(Schema.String),
  images: Schema.optionalKey(Schema.NullOr(Schema.Array(PublicImage)))
}).annotate({ identifier: "PublicParams" })

/** Where the result is. */
export const PublicOutput = Schema.Struct({
  /** Signed content URL: it carries `exp` and `sig`, and needs no key. */
  url: Schema.String,
  mime: Schema.String,
  bytes: Int64,
  expires_at: DateTime
}).annotate({ identifier: "PublicOutput" })

/** Why the job failed, for people (D12). */
export const PublicError = Schema.Struct({
  code: Schema.String,
  message: Schema.String,
  reason: Schema.NullOr(Schema.String)
}).annotate({ identifier: "PublicError" })

/** What is produced (D9). */
export const Kind = Schema.Literals(["image", "video"])

/** The states of a job (D6). */
export const Status = Schema.Literals(["pending", "queued", "processing", "completed", "failed", "cancelled"])

/** A job. Everything is always present, `null` where it does not apply, except `next`. */
export const Generation = Schema.Struct({
  id: Schema.String,
  model: Schema.String,
  kind: Kind,
  /** As in the model's `capabilities`, `text_to_image` for example (D9). */
  mode: Schema.String,
  plan: Plan,
  status: Status,
  prompt: Schema.NullOr(Schema.String),
  params: PublicParams,
  /** Credits charged; `null` for the studio plan. */
  cost_credits: Schema.NullOr(Int64),
  /** The daily quota charged; `null` for the credits plan. */
  quota_kind: Schema.NullOr(Kind),
  watermark: Schema.Boolean,
  refunded: Schema.Boolean,
  /** The `code` of `error`. */
  error_code: Schema.NullOr(Schema.String),
  error: Schema.NullOr(PublicError),
  /** `null` until the job is completed, and again once the result has expired. */
  output: Schema.NullOr(PublicOutput),
  preview_url: Schema.NullOr(Schema.String),
  thumb_url: Schema.NullOr(Schema.String),
  poster_url: Schema.NullOr(Schema.String),
  result_expires_at: Schema.NullOr(DateTime),
  queued_at: DateTime,
  started_at: Schema.NullOr(DateTime),
  finished_at: Schema.NullOr(DateTime),
  created_at: DateTime,
  /** Present only while the job is not finished. */
  next: Schema.optionalKey(Next)
}).annotate({ identifier: "Generation" })
/** See the schema of the same name. */
export type Generation = typeof Generation.Type

/** A page of jobs, newest first (D38). */
export const GenerationList = Schema.Struct({
  data: Schema.Array(Generation),
  /** Asks for the next page as `cursor`; `null` on the last one. */
  next_cursor: Schema.NullOr(Schema.String)
}).annotate({ identifier: "GenerationList" })
/** See the schema of the same name. */
export type GenerationList = typeof GenerationList.Type

/** One input image: exactly one of `data` and `upload_id` (D18). */
export const InputImage = Schema.Struct({
  /** Base64, or a `data:` URL. */
  data: Schema.optionalKey(Schema.String),
  mime: Schema.optionalKey(Schema.String),
  upload_id: Schema.optionalKey(Schema.String)
}).annotate({ identifier: "InputImage" })

/** What to generate. Which values a model takes is in its `params_schema`. */
export const Params = Schema.Struct({
  prompt: Schema.String,
  aspect_ratio: Schema.optionalKey(Schema.String),
  duration: Schema.optionalKey(Int64),
  mode: Schema.optionalKey(Schema.String),
  resolution: Schema.optionalKey(Schema.String),
  images: Schema.optionalKey(Schema.NullOr(Schema.Array(InputImage)))
}).annotate({ identifier: "Params" })

/** A request for a job. Unknown properties are refused, here and in what it holds (D5). */
export const CreateGenerationRequest = Schema.Struct({
  /** The group to charge. It is never switched on its own. */
  plan: Plan,
  /** An id from the model list. */
  model: Schema.String,
  params: Params
}).annotate({ identifier: "CreateGenerationRequest" })
/** See the schema of the same name. */
export type CreateGenerationRequest = typeof CreateGenerationRequest.Type

/** A job, and where it is. */
const located = { generation: Schema.toType(Generation), location: Schema.String }

/** The answer to a create request that made a job: 201 (D15). */
export class CreatedGeneration extends Schema.Class<CreatedGeneration>("CreatedGeneration")({
  ...located,
  /** The creation limit of the plan group: per minute, left, and the Unix time when the minute ends. */
  rateLimit: Schema.Struct({ limit: Schema.Int, remaining: Schema.Int, reset: Schema.Int })
}) {}

/** The answer to a create request that an earlier one had made: 200, and nothing was charged (D15). */
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
