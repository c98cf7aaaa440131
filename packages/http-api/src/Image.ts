/** The image endpoint in the shape of common client libraries (D20). */
import { Schema } from "effect"
import { Int64 } from "./Scalar.ts"

/** An optional field in which an explicit `null` counts as absent (D20). */
const optional = <S extends Schema.Constraint>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

/** A request for one image. Further properties are accepted and ignored (D5). */
export const ImageRequest = Schema.StructWithRest(
  Schema.Struct({
    /** Id of an image model. */
    model: Schema.String,
    prompt: Schema.String,
    /** 1 or omitted. */
    n: optional(Int64),
    /** `studio` or `credits`, as the header `X-Plan`. */
    plan: optional(Schema.String),
    /** `hd` selects 2k where the model supports it. */
    quality: optional(Schema.String),
    /** `url` or `b64_json`; by default what the model says, usually `url`. */
    response_format: optional(Schema.String),
    /** `auto` or `<W>x<H>`, mapped to the nearest aspect ratio of the model. */
    size: optional(Schema.String),
    /** Ignored. */
    user: optional(Schema.String),
    /** Not supported: `true` is refused. */
    stream: optional(Schema.Boolean)
  }),
  [Schema.Record(Schema.String, Schema.Json)]
).annotate({ identifier: "ImageRequest" })
/** See the schema of the same name. */
export type ImageRequest = typeof ImageRequest.Type

/** An image: one of the two, as `response_format` asks. */
export const ImageData = Schema.Struct({
  /** Valid for the download window. */
  url: Schema.optionalKey(Schema.String),
  /** The image in base64. */
  b64_json: Schema.optionalKey(Schema.String)
}).annotate({ identifier: "ImageData" })

/** The answer: always one image. */
export const ImageResponse = Schema.Struct({
  /** Unix time. */
  created: Int64,
  data: Schema.NullOr(Schema.Array(ImageData))
}).annotate({ identifier: "ImageResponse" })
/** See the schema of the same name. */
export type ImageResponse = typeof ImageResponse.Type
