/** A kind of job: its name, and the schema of what it is told. */
import { Schema } from "effect"

/** Gives the payloads of one kind their type. */
export interface JobKind<Payload> {
  /** What workers claim by, at most 128 characters. It is stored with each job: do not rename a kind in use. */
  readonly name: string
  /** The payload as JSON. Throws when the payload breaks its schema, which is a bug of the caller. */
  readonly encode: (payload: Payload) => Schema.Json
  /** The payload of a stored job. Throws `SchemaError` when the schema has moved on without it. */
  readonly decode: (json: Schema.Json) => Payload
}

/** Defines a kind. Any schema that needs no services will do; it is stored in its JSON form. */
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
