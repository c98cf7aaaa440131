/** Columns of rows, as drivers represent their values. */
import { Schema, SchemaTransformation } from "effect"
import pgTypes from "pg-types"

/** A `timestamptz`: a `Date`, or the text that Postgres writes, which has an offset. */
export const timestamptz: Schema.Codec<Schema.DateTimeUtc["Type"], Date | string> = Schema.Union([
  Schema.DateTimeUtcFromDate,
  Schema.String.check(Schema.isPattern(/(Z|[+-]\d\d(:?\d\d){0,2})( BC)?$/)).pipe(
    Schema.decodeTo(
      Schema.DateTimeUtcFromDate,
      SchemaTransformation.transform({
        decode: (text) => parseTime(text.replace("T", " ")) ?? new Date(NaN),
        encode: (date) => date.toISOString()
      })
    )
  )
])

/** An `int8`: a `bigint`, its digits, or a number up to 2^53. */
export const int8: Schema.Codec<bigint, bigint | string | number> = Schema.Union([
  Schema.BigInt,
  Schema.BigIntFromString,
  Schema.Int.pipe(Schema.decodeTo(Schema.BigInt, SchemaTransformation.transform({ decode: BigInt, encode: Number })))
])

/** A `bytea`: bytes, or `\x` and their hexadecimal digits. */
export const bytea: Schema.Codec<Uint8Array, Uint8Array | string> = Schema.Union([
  Schema.Uint8Array,
  Schema.TemplateLiteralParser(["\\x", Schema.Uint8ArrayFromHex]).pipe(
    Schema.decodeTo(
      Schema.Uint8Array,
      SchemaTransformation.transform({ decode: ([, bytes]) => bytes, encode: (bytes) => ["\\x", bytes] as const })
    )
  )
])

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Returns null for a text in another format. */
const parseTime = pgTypes.getTypeParser(pgTypes.builtins.TIMESTAMPTZ) as (text: string) => Date | null
