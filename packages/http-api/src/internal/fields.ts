/** Constructors for the properties of wire schemas. Each takes the description that OpenAPI shows. */
import { Schema, SchemaTransformation } from "effect"
import { Int64 } from "../Scalar.ts"

/** A property of any schema whose encoded side is the schema itself. Use `time` for times. */
export const field = <S extends Schema.Top>(schema: S, description: string): S["Rebuild"] =>
  schema.annotateKey({ description })

/** A string. */
export const text = (description: string) => field(Schema.String, description)

/** An integer. */
export const int = (description: string) => field(Int64, description)

/** A boolean. */
export const flag = (description: string) => field(Schema.Boolean, description)

/** A time: RFC 3339 in UTC with milliseconds and `Z`. */
export const time = (description: string) =>
  // On the encoded side, because annotations of a transformation do not reach the document.
  Schema.String.annotate({ format: "date-time" }).annotateKey({ description }).pipe(
    Schema.decodeTo(Schema.DateTimeUtc, SchemaTransformation.dateTimeUtcFromString)
  )

/** A time in a request: RFC 3339 in UTC, with at most milliseconds. */
export const requestTime = (description: string) =>
  // Before the check, because annotations after it are its own.
  Schema.String.annotate({ format: "date-time" })
    .check(Schema.makeFilter(isTime, { expected: "a time such as 2027-01-31T00:00:00Z" })).annotateKey({ description })
    .pipe(
      Schema.decodeTo(Schema.DateTimeUtc, SchemaTransformation.dateTimeUtcFromString)
    )

/** A property that is `null` if it does not apply. */
export const nullable = <S extends Schema.Top>(schema: S, description: string) =>
  field(Schema.NullOr(schema), description)

/** A property that may be absent. */
export const optional = <S extends Schema.Top>(schema: S, description: string) =>
  field(Schema.optionalKey(schema), description)

/** A list. */
export const list = <S extends Schema.Top>(item: S, description: string) => field(Schema.Array(item), description)

/** A parameter of a path, a query or a header. */
export const parameter = (description: string) => Schema.String.annotate({ description })

/** A parameter that may be absent. */
export const optionalParameter = (description: string) => Schema.optionalKey(parameter(description))

/** An object schema under its name in the OpenAPI document. */
export const object = <const Fields extends Schema.Struct.Fields>(
  identifier: string,
  description: string,
  fields: Fields
) => Schema.Struct(fields).annotate({ identifier, description })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Whether the text is a time on a day that exists. `Date` would read 31 February as a day of March. */
function isTime(text: string): boolean {
  if (!/^(?!0000)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z$/.test(text)) return false
  const time = new Date(text)
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(text.slice(0, "YYYY-MM-DDTHH:MM:SS".length))
}
