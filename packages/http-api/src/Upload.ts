/** Images that are sent once and used by jobs any number of times (D19). */
import { Schema } from "effect"
import { DateTime, Int64 } from "./Scalar.ts"

/** Media types of images that the service reads. */
export const imageTypes = ["image/png", "image/jpeg", "image/webp"] as const

/** An upload. `id` goes into `upload_id` of an input image. */
export const Upload = Schema.Struct({
  id: Schema.String,
  /** By content, whatever was declared. */
  mime: Schema.Literals(imageTypes),
  bytes: Int64,
  /** In pixels, upright. */
  width: Int64,
  height: Int64,
  /** Until when jobs can be created with it. */
  expires_at: DateTime
}).annotate({ identifier: "Upload" })
/** See the schema of the same name. */
export type Upload = typeof Upload.Type
