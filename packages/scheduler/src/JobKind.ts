/** A kind of job: a name, and the schema of its payload. */
import { Schema } from "effect"

/** Defines the payload type of the jobs of one kind. */
export interface JobKind<Payload> {
  /** The name by which workers claim jobs, at most 128 characters. It is stored with each job, so do not rename it. */
  readonly name: string
  /** Encodes a payload as JSON. Throws if the payload does not match the schema, which is a bug of the caller. */
  readonly encode: (payload: Payload) => Schema.Json
  /** Decodes the payload of a stored job. Throws `SchemaError` if the schema no longer accepts it. */
  readonly decode: (json: Schema.Json) => Payload
}

/** Creates a kind. Payloads are stored in the JSON form of the schema, which must not require services. */
export const make = <Payload, Encoded>(options: {
  readonly name: string
  readonly payload: Schema.Codec<Payload, Encoded>
}): JobKind<Payload> => {
  const codec = Schema.toCodecJson(options.payload)
  return {
    name: options.name,
    encode: Schema.encodeSync(codec),
    decode: Schema.decodeSync(codec)
  }
}
