/** The values of `pg` in the representation of `@effect/sql-pg`, in which stores read rows. */
import pgTypes from "pg-types"
import postgresArray from "postgres-array"

/** Parsers of a query of `pg`: those of `pg-types`, except for the types below. */
export const types = {
  // The server responds in text format, which `pg` asks for.
  getTypeParser: (oid: number): (value: string) => unknown => parsers.get(oid) ?? parserOf(oid)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

// Its type lists the built-in types, and returns an identity for all others.
const parserOf = pgTypes.getTypeParser as (oid: number) => (value: string) => unknown

const asText = (value: string) => value

const arrayOf = <A>(parse: (value: string) => A) => (value: string) => postgresArray.parse(value, parse)

const parsers = new Map<number, (value: string) => unknown>([
  [20, BigInt],
  [1016, arrayOf(BigInt)],
  // `pg` would convert a date to a time in the zone of the process.
  [1082, asText],
  [1182, arrayOf(asText)]
])
