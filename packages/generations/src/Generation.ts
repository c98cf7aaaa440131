/** The job object that clients see, and the schemas of its parts. */
import { KeyId } from "@kinora/accounts/ApiKey"
import { TypeId } from "@kinora/persistence"
import { Effect, Schema } from "effect"

/** Id of a generation: `gen_…`. */
export const GenerationId = TypeId.define("gen", "GenerationId")
/** See the value of the same name. */
export type GenerationId = TypeId.Id<"GenerationId">

/** Id of an uploaded image: `upl_…`. */
export const UploadId = TypeId.define("upl", "UploadId")
/** See the value of the same name. */
export type UploadId = TypeId.Id<"UploadId">

/**
 * The states of a generation and the transitions between them:
 *
 *     (new) ──▶ pending ──▶ queued ──▶ processing ──▶ completed
 *       │          │  │       ▲ │ │        │
 *       └──────────┼──┼───────┘ │ │        └────────▶ failed
 *                  │  └─────────┼─┼─────────────────▶ failed     (queue timeout, model withdrawn)
 *                  └────────────┴─┴─────────────────▶ cancelled
 *
 * A `pending` job waits for a slot of its account and plan group. A `queued` job
 * holds a slot and waits for a worker. A `processing` job has been started by a
 * worker; if that worker is lost, the state stays and another worker takes over.
 * Jobs that become `failed` or `cancelled` are refunded.
 */
export const Status = Schema.Literals(["pending", "queued", "processing", "completed", "failed", "cancelled"])
/** See the schema of the same name. */
export type Status = typeof Status.Type

/** Returns `true` if a generation in this state never changes its state again. */
export const isFinal = (status: Status): boolean =>
  status === "completed" || status === "failed" || status === "cancelled"

/** Media kind of the result. */
export const Kind = Schema.Literals(["image", "video"])
/** See the schema of the same name. */
export type Kind = typeof Kind.Type

/** Input and output of the job. */
export const Mode = Schema.Literals(["text_to_image", "image_to_image", "text_to_video", "image_to_video"])
/** See the schema of the same name. */
export type Mode = typeof Mode.Type

/** Plan group that the job is charged to. */
export const Plan = Schema.Literals(["studio", "credits"])
/** See the schema of the same name. */
export type Plan = typeof Plan.Type

/** Machine-readable cause of a failed generation. */
export const FailureCode = Schema.Literals([
  "generation_failed",
  "content_rejected",
  "invalid_input",
  "upstream_error",
  "upstream_timeout",
  "time_limit",
  "worker_lost",
  "queue_timeout",
  "model_withdrawn"
])
/** See the schema of the same name. */
export type FailureCode = typeof FailureCode.Type

/** A failure as clients see it. The message is written by this service and never contains upstream text. */
export const Failure = Schema.Struct({
  code: FailureCode,
  message: Schema.String,
  reason: Schema.NullOr(Schema.Literals(["safety", "copyright", "provider", "internal"]))
})
/** See the schema of the same name. */
export type Failure = typeof Failure.Type

/** A file in the blob store. */
export const StoredFile = Schema.Struct({
  key: Schema.String,
  mime: Schema.String,
  bytes: Schema.Int,
  /** SHA-256 of the bytes, in hex. */
  sha256: Schema.String
})
/** See the schema of the same name. */
export type StoredFile = typeof StoredFile.Type

/** The files of a completed generation. Images have a `preview`. Videos have a `poster` if their generator supplied one or a frame could be extracted. */
export const Output = Schema.Struct({
  content: StoredFile,
  preview: Schema.NullOr(StoredFile),
  thumb: Schema.NullOr(StoredFile),
  poster: Schema.NullOr(StoredFile)
})
/** See the schema of the same name. */
export type Output = typeof Output.Type

/** Media types of input images, detected from their content. */
export const ImageMime = Schema.Literals(["image/png", "image/jpeg", "image/webp"])
/** See the schema of the same name. */
export type ImageMime = typeof ImageMime.Type

/**
 * Reference to a stored input image of a job. The stored bytes are a re-encoded copy
 * of the client's image: upright, in sRGB, without metadata.
 */
export const InputImage = Schema.Struct({
  /** Position in `params.images`, from 0. */
  index: Schema.Int,
  mime: ImageMime,
  /** In pixels. */
  width: Schema.Int,
  /** In pixels. */
  height: Schema.Int,
  /** Key in the blob store. The bytes are deleted some time after the job can have ended; this reference remains. */
  key: Schema.String,
  /** Length of the stored copy. */
  bytes: Schema.Int
})
/** See the schema of the same name. */
export type InputImage = typeof InputImage.Type

/** Parameters of a job, with the model's defaults filled in. */
export const Params = Schema.Record(Schema.String, Schema.Union([Schema.String, Schema.Int, Schema.Boolean]))
/** See the schema of the same name. */
export type Params = typeof Params.Type

/**
 * A generation job.
 *
 * Webhook events store the encoded form until they are delivered, so a new field
 * needs a decoding default.
 */
export const Generation = Schema.Struct({
  id: GenerationId.schema,
  /** Account that owns the job and paid for it. */
  account: Schema.String,
  /** Id of the API key that created the job; `null` for jobs of earlier versions, and of callers without a key. */
  key: Schema.NullOr(Schema.String).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  model: Schema.String,
  kind: Kind,
  mode: Mode,
  plan: Plan,
  status: Status,
  prompt: Schema.String,
  params: Params,
  /** Input images in the order of the request. Empty for text modes. */
  images: Schema.Array(InputImage),
  /** Credits charged; `null` for studio jobs. */
  costCredits: Schema.NullOr(Schema.Int),
  /** Daily quota charged; `null` for credits jobs. */
  quotaKind: Schema.NullOr(Kind),
  /** Whether trial credits paid a part of the job, so that its files carry a watermark. */
  watermark: Schema.Boolean.pipe(Schema.withDecodingDefaultKey(Effect.succeed(false))),
  refunded: Schema.Boolean,
  /** Line of API keys against whose budget the job counts until it is refunded. Absent if it counts against none. */
  keyLine: Schema.optionalKey(KeyId.schema),
  failure: Schema.NullOr(Failure),
  /** Result files; `null` until the job completes and after the download window ends. */
  output: Schema.NullOr(Output),
  /** End of the download window of a completed job. */
  resultExpiresAt: Schema.NullOr(Schema.DateTimeUtcFromString),
  createdAt: Schema.DateTimeUtcFromString,
  startedAt: Schema.NullOr(Schema.DateTimeUtcFromString),
  finishedAt: Schema.NullOr(Schema.DateTimeUtcFromString)
})
/** See the schema of the same name. */
export type Generation = typeof Generation.Type

/** Names of the files of a generation that clients can download. */
export type File = "content" | "preview" | "thumb" | "poster"
