/** The image endpoint in the shape of common client libraries. */
import { Schema } from "effect"
import { int, nullable, object, optional as optionalKey, text } from "./internal/fields.ts"
import { Int64 } from "./Scalar.ts"

/** An optional property. `null` counts as absent. */
const optional = <S extends Schema.Top>(schema: S, description: string) =>
  optionalKey(Schema.NullOr(schema), description)

/** A request for one image. Properties that are not listed are accepted and ignored. */
export const ImageRequest = Schema.StructWithRest(
  Schema.Struct({
    model: text("The id of an image model."),
    prompt: text("A description of the image."),
    n: optional(Int64, "The number of images: 1."),
    plan: optional(Schema.String, "The plan group to charge: `studio` or `credits`. Same as the header `X-Plan`."),
    quality: optional(Schema.String, "`hd` selects the resolution `2k` if the model supports it."),
    response_format: optional(Schema.String, "`url` or `b64_json`. The default depends on the model, usually `url`."),
    output_format: optional(Schema.String, "The format of the model, such as `png`. Other formats are rejected."),
    size: optional(Schema.String, "`auto` or `<width>x<height>`, mapped to the closest aspect ratio of the model."),
    user: optional(Schema.String, "Ignored."),
    stream: optional(Schema.Boolean, "Must not be `true`: streaming is not supported.")
  }),
  [Schema.Record(Schema.String, Schema.Json)]
).annotate({
  identifier: "ImageRequest",
  description: "A request for one image. Properties that are not listed are accepted and ignored."
})
/** See the schema of the same name. */
export type ImageRequest = typeof ImageRequest.Type

/** An image: one of the two properties, according to `response_format`. */
export const ImageData = object("ImageData", "An image: one of the two properties, according to `response_format`.", {
  url: optionalKey(Schema.String, "A signed URL of the image, valid until the result expires."),
  b64_json: optionalKey(Schema.String, "The image in base64.")
})

/** The response of the image endpoint. */
export const ImageResponse = object("ImageResponse", "One image.", {
  created: int("Unix time when the job was created."),
  data: nullable(Schema.Array(ImageData), "The image, as a list of one.")
})
/** See the schema of the same name. */
export type ImageResponse = typeof ImageResponse.Type
