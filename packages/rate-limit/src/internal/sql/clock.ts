/** Periods and milliseconds of a time of the database. */
import { Statement } from "effect/sql"
import { type PeriodKind, windows } from "../counter.ts"

/** Returns the expression for the number of periods between 1970 and a time, by the rule of `Counter.periodOf`. */
export const periodAt = (kind: PeriodKind, time: Statement.Fragment): Statement.Fragment =>
  Statement.fragment([
    Statement.literal("floor(extract(epoch FROM "),
    ...time.segments,
    Statement.literal(`) * 1000 / ${windows[kind].length})::int4`)
  ])

/** Returns the expression for a time in milliseconds since 1970. */
export const millisAt = (time: Statement.Fragment): Statement.Fragment =>
  Statement.fragment([
    Statement.literal("(extract(epoch FROM "),
    ...time.segments,
    Statement.literal(") * 1000)::float8")
  ])
