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

/** The value of each letter, by its character code. */
const values = new Uint8Array(128)
for (let value = 0; value < alphabet.length; value++) values[alphabet.charCodeAt(value)] = value

// Two letters are one byte, and four letters are five hexadecimal digits, so that no group needs a `bigint`.

const encode = (uuid: string): string => {
  const hex = uuid.slice(0, 8) + uuid.slice(9, 13) + uuid.slice(14, 18) + uuid.slice(19, 23) + uuid.slice(24)
  let text = letters(Number.parseInt(hex.slice(0, 2), 16), 2)
  for (let at = 2; at < 32; at += 5) text += letters(Number.parseInt(hex.slice(at, at + 5), 16), 4)
  return text
}

const letters = (value: number, count: number): string => {
  let text = ""
  for (let shift = 5 * (count - 1); shift >= 0; shift -= 5) text += alphabet.charAt((value >> shift) & 31)
  return text
}

const decode = (text: string): string => {
  let hex = valueOf(text, 0, 2).toString(16).padStart(2, "0")
  for (let at = 2; at < 26; at += 4) hex += valueOf(text, at, 4).toString(16).padStart(5, "0")
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

const valueOf = (text: string, from: number, count: number): number => {
  let value = 0
  for (let at = from; at < from + count; at++) value = (value << 5) | values[text.charCodeAt(at)]!
  return value
}
