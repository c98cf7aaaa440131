/**
 * The scalars of the wire. Each says on its encoded side what the OpenAPI document
 * shall say, because annotations of a transformation do not reach it.
 */
import { Schema, SchemaGetter, SchemaTransformation } from "effect"

/** A JSON integer within ±(2^53 − 1), so that every JSON parser reads it exactly (D4). */
export const Int64 = Schema.Number.check(
  Schema.isInt({ toJsonSchema: () => ({ type: "integer", format: "int64" }) })
)

/** RFC 3339 in UTC with milliseconds and `Z` (D4). */
export const DateTime = Schema.String.annotate({ format: "date-time" }).pipe(
  Schema.decodeTo(Schema.DateTimeUtc, SchemaTransformation.dateTimeUtcFromString)
)

/** The plan group that a job is charged to, or that an error is about. */
export const Plan = Schema.Literals(["studio", "credits"])
/** See the schema of the same name. */
export type Plan = typeof Plan.Type

/** Whether an earlier job was returned, as a header says it. */
export const BooleanText = Schema.Literals(["true", "false"])

/** 1 to 255 printable ASCII characters (D14). */
export const IdempotencyKey = Schema.String.check(
  Schema.isPattern(/^[\x20-\x7e]{1,255}$/, { expected: "1 to 255 printable ASCII characters" })
)

/** An integer of any size ≥ 0, in decimal digits only, as it stands in a query. */
export const Seconds = Schema.String.check(Schema.isPattern(/^\d+$/, { expected: "an integer of at least 0" })).pipe(
  Schema.decodeTo(Schema.Number, { decode: SchemaGetter.Number(), encode: SchemaGetter.String() })
)

/** How many items a page has, 1 to 100, as it stands in a query (D38). */
export const PageSize = Schema.String.check(
  Schema.isPattern(/^([1-9]\d?|100)$/, { expected: "an integer from 1 to 100" })
).pipe(
  Schema.decodeTo(Schema.Number, { decode: SchemaGetter.Number(), encode: SchemaGetter.String() })
)
