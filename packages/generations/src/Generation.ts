/** A generation: the job object that clients see, as this package keeps it. */
import { TypeId } from "@kinora/persistence"
import { Schema } from "effect"

/** `gen_…` (D2). */
export const GenerationId = TypeId.define("gen", "GenerationId")
/** See the value of the same name. */
export type GenerationId = TypeId.Id<"GenerationId">

/** `upl_…` (D2, D19). */
export const UploadId = TypeId.define("upl", "UploadId")
/** See the value of the same name. */
export type UploadId = TypeId.Id<"UploadId">

/**
 * The states of a generation (D6) and the ways between them (D7):
 *
 *     (new) ──▶ pending ──▶ queued ──▶ processing ──▶ completed
 *       │          │  │       ▲ │ │        │
 *       └──────────┼──┼───────┘ │ │        └────────▶ failed
 *                  │  └─────────┼─┼─────────────────▶ failed     (queue timeout, model withdrawn)
 *                  └────────────┴─┴─────────────────▶ cancelled
 *
 * `pending` waits for a slot of its account and plan group, `queued` holds a slot
 * and waits for a worker, `processing` runs. A worker that is lost leaves the state
 * as it is: another one takes over. Leaving for `failed` or `cancelled` refunds.
 */
export const Status = Schema.Literals(["pending", "queued", "processing", "completed", "failed", "cancelled"])
/** See the schema of the same name. */
export type Status = typeof Status.Type

/** Whether a generation in this state never changes its state again. */
export const isFinal = (status: Status): boolean =>
  status === "completed" || status === "failed" || status === "cancelled"

/** What is produced (D9). */
export const Kind = Schema.Literals(["image", "video"])
/** See the schema of the same name. */
export type Kind = typeof Kind.Type

/** From what it is produced (D9). */
export const Mode = Schema.Literals(["text_to_image", "image_to_image", "text_to_video", "image_to_video"])
/** See the schema of the same name. */
export type Mode = typeof Mode.Type

/** The plan group that is charged. */
export const Plan = Schema.Literals(["studio", "credits"])
/** See the schema of the same name. */
export type Plan = typeof Plan.Type

/** Why a generation failed (D12). */
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

/** A failure as clients see it: for people, and never an upstream's own words. */
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
  /** SHA-256 of the bytes, hex. */
  sha256: Schema.String
})
/** See the schema of the same name. */
export type StoredFile = typeof StoredFile.Type

/** The files of a completed generation. Images have a `preview`, videos a `poster` where their generator gave one (D10). */
export const Output = Schema.Struct({
  content: StoredFile,
  preview: Schema.NullOr(StoredFile),
  thumb: Schema.NullOr(StoredFile),
  poster: Schema.NullOr(StoredFile)
})
/** See the schema of the same name. */
export type Output = typeof Output.Type

/** Media types of input images, told by content (D18). */
export const ImageMime = Schema.Literals(["image/png", "image/jpeg", "image/webp"])
/** See the schema of the same name. */
export type ImageMime = typeof ImageMime.Type

/**
 * An image that a job starts from: where its bytes are kept, never the bytes. They
 * were decoded and written anew: upright, in sRGB, without metadata (D18).
 */
export const InputImage = Schema.Struct({
  /** Its place in the request's list, from 0. */
  index: Schema.Int,
  mime: ImageMime,
  /** Pixels. */
  width: Schema.Int,
  /** Pixels. */
  height: Schema.Int,
  /** In the blob store. The bytes go some time after the job can have ended; this stays. */
  key: Schema.String,
  /** Length of what is kept. */
  bytes: Schema.Int
})
/** See the schema of the same name. */
export type InputImage = typeof InputImage.Type

/** The parameters of a job with the model's defaults filled in (D17). */
export const Params = Schema.Record(Schema.String, Schema.Union([Schema.String, Schema.Int, Schema.Boolean]))
/** See the schema of the same name. */
export type Params = typeof Params.Type

/**
 * A generation with everything that is known of it. Its encoded form is kept in events
 * for as long as those are sent, so a field that is added needs a default.
 */
export const Generation = Schema.Struct({
  id: GenerationId.schema,
  /** The account that owns and paid it. */
  account: Schema.String,
  model: Schema.String,
  kind: Kind,
  mode: Mode,
  plan: Plan,
  status: Status,
  prompt: Schema.String,
  params: Params,
  /** What it starts from, in the order of the request; empty in modes that take text alone. */
  images: Schema.Array(InputImage),
  /** Credits charged; `null` for studio. */
  costCredits: Schema.NullOr(Schema.Int),
  /** Daily quota charged; `null` for credits. */
  quotaKind: Schema.NullOr(Kind),
  refunded: Schema.Boolean,
  failure: Schema.NullOr(Failure),
  /** The files; `null` until completed, and again once the download window has ended. */
  output: Schema.NullOr(Output),
  /** End of the download window of a completed generation. */
  resultExpiresAt: Schema.NullOr(Schema.DateTimeUtcFromString),
  createdAt: Schema.DateTimeUtcFromString,
  startedAt: Schema.NullOr(Schema.DateTimeUtcFromString),
  finishedAt: Schema.NullOr(Schema.DateTimeUtcFromString)
})
/** See the schema of the same name. */
export type Generation = typeof Generation.Type

/** The files of a generation that clients can fetch. */
export type File = "content" | "preview" | "thumb" | "poster"
