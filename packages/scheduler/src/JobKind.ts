/**
 * A kind of job: a name, and the schema of its payload.
 *
 * A kind can be divided into pools. The jobs of a pool are claimed only by workers that
 * serve it, for example those that have a certain model or device. All pools of a kind
 * have one handler.
 */
import { Option, Schema } from "effect"
import * as KindName from "./internal/kindName.ts"

/** Defines the payload type of the jobs of one kind. */
export interface JobKind<Payload> {
  /**
   * The name by which workers claim jobs, followed by a colon and the pool if there is one.
   * At most 128 characters. It is stored with each job, so do not rename it.
   */
  readonly name: string
  /** Encodes a payload as JSON. Throws if the payload does not match the schema, which is a bug of the caller. */
  readonly encode: (payload: Payload) => Schema.Json
  /** Decodes the payload of a stored job. Throws `SchemaError` if the schema no longer accepts it. */
  readonly decode: (json: Schema.Json) => Payload
}

/**
 * Creates a kind. Payloads are stored in the JSON form of the schema, which must not
 * require services. Throws if the name contains a colon.
 */
export const make = <Payload, Encoded>(options: {
  readonly name: string
  readonly payload: Schema.Codec<Payload, Encoded>
}): JobKind<Payload> => {
  if (KindName.baseOf(options.name) !== options.name) {
    throw new Error(`The name of a kind must not contain a colon: ${options.name}`)
  }
  const codec = Schema.toCodecJson(options.payload)
  return {
    name: options.name,
    encode: Schema.encodeSync(codec),
    decode: Schema.decodeSync(codec)
  }
}

/** Returns the pool in the name of a kind, or `None`. */
export const poolOf = (name: string): Option.Option<string> => Option.fromUndefinedOr(KindName.poolOf(name))

/** Returns the kind for the jobs of a pool. */
export const pool = <Payload>(kind: JobKind<Payload>, name: string): JobKind<Payload> => ({
  ...kind,
  name: KindName.ofPool(KindName.baseOf(kind.name), name)
})
