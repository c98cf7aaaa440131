/** Images that are uploaded once and used by any number of jobs. */
import { Schema } from "effect"
import { field, int, object, text, time } from "./internal/fields.ts"

/** The media types of images that the service reads. */
export const imageTypes = ["image/png", "image/jpeg", "image/webp"] as const

/** An upload. */
export const Upload = object("Upload", "An upload.", {
  id: text("The id of the upload, for `upload_id` of input images."),
  mime: field(Schema.Literals(imageTypes), "The media type of the content."),
  bytes: int("The size of the image in bytes."),
  width: int("Width in pixels, upright."),
  height: int("Height in pixels, upright."),
  expires_at: time("When the upload expires. Jobs cannot be created with it afterwards.")
})
/** See the schema of the same name. */
export type Upload = typeof Upload.Type
