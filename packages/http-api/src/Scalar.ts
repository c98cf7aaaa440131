/** Scalars of the wire format. */
import { Schema, SchemaGetter, SchemaTransformation } from "effect"

/** A JSON integer within ±(2^53 − 1), which every JSON parser reads exactly. */
export const Int64 = Schema.Number.check(
  Schema.isInt({ toJsonSchema: () => ({ type: "integer", format: "int64" }) })
)

/** RFC 3339 in UTC with milliseconds and `Z`. */
export const DateTime = Schema.String.annotate({ format: "date-time" }).pipe(
  Schema.decodeTo(Schema.DateTimeUtc, SchemaTransformation.dateTimeUtcFromString)
)

/** A plan group. */
export const Plan = Schema.Literals(["studio", "credits"])
/** See the schema of the same name. */
export type Plan = typeof Plan.Type

/** A boolean in a header. */
export const BooleanText = Schema.Literals(["true", "false"])

/** 1 to 255 printable ASCII characters. */
export const IdempotencyKey = Schema.String.check(
  Schema.isPattern(/^[\x20-\x7e]{1,255}$/, { expected: "1 to 255 printable ASCII characters" })
)

/** The text of an integer that `pattern` matches, as in a query. */
const integerText = (pattern: RegExp, expected: string) =>
  Schema.String.check(Schema.isPattern(pattern, { expected })).pipe(
    Schema.decodeTo(Schema.Number, { decode: SchemaGetter.Number(), encode: SchemaGetter.String() })
  )

/** A number of seconds in a query: decimal digits, of any length. */
export const Seconds = integerText(/^\d+$/, "an integer of at least 0")

/** The size of a page in a query: 1 to 100. */
export const PageSize = integerText(/^([1-9]\d?|100)$/, "an integer from 1 to 100")

/** The size of a page of bookings in a query: 1 to 1,000. */
export const StatementSize = integerText(/^([1-9]\d{0,2}|1000)$/, "an integer from 1 to 1000")

/** How many accounts a call verifies, in a query: 1 to 10,000. */
export const AccountCount = integerText(/^([1-9]\d{0,3}|10000)$/, "an integer from 1 to 10000")
