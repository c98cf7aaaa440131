/**
 * Ids with a prefix that names their kind: `gen_01k…`, a prefix and 26 characters of
 * base32 over a UUIDv7 (TypeID specification, version 0.3). Databases store the native
 * `uuid`; all other code passes the string.
 *
 * The encoding is written here because `typeid-js` reads `Date.now`, which a test
 * clock cannot move.
 */
import { type Brand, Effect, Schema } from "effect"
import { SecureRandom } from "effect/crypto"

/** The codec and constructors of one kind of id. */
export interface TypeId<Prefix extends string, Name extends string> {
  readonly prefix: Prefix
  /** The codec of the string form. */
  readonly schema: Schema.Codec<Id<Name>, string>
  /** Creates an id. Ids sort by the time of the `Clock`. */
  readonly make: Effect.Effect<Id<Name>, never, SecureRandom.SecureRandom>
  /** Converts an id to the `uuid` for the database. */
  readonly toUuid: (id: Id<Name>) => string
  /** Converts a `uuid` from `toUuid` back to the id. */
  readonly fromUuid: (uuid: string) => Id<Name>
  /** Returns `text` as an id, or `undefined` if its prefix, length or letters do not match. */
  readonly parse: (text: string) => Id<Name> | undefined
}

/** The type of an id with this brand. */
export type Id<Name extends string> = Brand.Branded<string, Name>

/** Defines a kind of id. `prefix` has 1 to 63 lower-case letters; `name` brands its type. */
export const define = <const Prefix extends string, const Name extends string>(
  prefix: Prefix,
  name: Name
): TypeId<Prefix, Name> => {
  // The first of the 26 characters encodes three bits only.
  const pattern = new RegExp(`^${prefix}_[0-7][${alphabet}]{25}$`)
  const fromUuid = (uuid: string) => `${prefix}_${encode(uuid)}` as Id<Name>
  return {
    prefix,
    schema: Schema.String.pipe(
      Schema.refine((text): text is Id<Name> => pattern.test(text), { identifier: name, expected: `an id ${prefix}_…` })
    ),
    make: SecureRandom.SecureRandom.use((random) => Effect.map(random.uuidV7(), fromUuid)),
    toUuid: (id) => decode(id.slice(prefix.length + 1)),
    fromUuid,
    parse: (text) => pattern.test(text) ? text as Id<Name> : undefined
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Crockford's base32, lower case: no i, l, o, u. */
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"

const encode = (uuid: string): string => {
  let rest = BigInt(`0x${uuid.replaceAll("-", "")}`)
  let text = ""
  for (let place = 0; place < 26; place++) {
    text = alphabet.charAt(Number(rest & 31n)) + text
    rest >>= 5n
  }
  return text
}

const decode = (text: string): string => {
  let value = 0n
  for (const letter of text) value = (value << 5n) | BigInt(alphabet.indexOf(letter))
  const hex = value.toString(16).padStart(32, "0")
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
