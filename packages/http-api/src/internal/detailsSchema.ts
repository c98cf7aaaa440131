/** The schema of `details` by code. */
import { Schema } from "effect"
import { type AnyErrorCode, definitionOf, definitions } from "../ErrorCode.ts"

/** Every code, in the order of the tables. */
export const allCodes = Object.keys(definitions) as ReadonlyArray<AnyErrorCode>

/** The schema of a code's `details`. */
export const detailsSchema = (code: AnyErrorCode): Schema.Codec<object, unknown> => schemas.get(code) ?? noDetails

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const noDetails = Schema.Record(Schema.String, Schema.Never)

const schemas: ReadonlyMap<AnyErrorCode, Schema.Codec<object, unknown>> = new Map(
  allCodes.map((code) => {
    const { details } = definitionOf(code)
    return [code, details === undefined ? noDetails : Schema.Struct(details)]
  })
)
