/** Statements on cron schedules. `internal/ticks.ts` has their rules. */
import * as DatabaseTime from "@kinora/persistence/DatabaseTime"
import * as Rows from "@kinora/persistence/Rows"
import { type DateTime, Effect, Schema } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import type { Advance, HandledSchedule } from "../ticks.ts"

/** Reads schedules, and the time. A missing one is created, without ticks before now. */
export const schedules = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, names: ReadonlyArray<string>) {
  const now = yield* DatabaseTime.now
  let rows = yield* read(sql, names, now)
  if (rows.length < names.length) {
    yield* create(sql, names, now)
    rows = yield* read(sql, names, now)
  }
  const handled: ReadonlyArray<HandledSchedule> = rows.map(({ handledUntil, name }) => ({ name, handledUntil }))
  return { handled, now: rows[0]!.now }
})

/** Advances a schedule that is at a time. Returns whether it was. */
export const advance = (sql: SqlClient.SqlClient, { from, name, to }: Advance) =>
  Effect.map(
    sql`
      UPDATE scheduler_schedule SET handled_until = ${toDate(to)}
      WHERE name = ${name} AND ${sql.literal(handledUntil)} = ${toDate(from)}
      RETURNING 1
    `,
    (advanced) => advanced.length > 0
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** In milliseconds, as programs read it, also if the row was edited by hand. */
const handledUntil = "date_trunc('milliseconds', handled_until)"

const toDate = (time: DateTime.Utc) => new Date(time.epochMilliseconds)

const read = (sql: SqlClient.SqlClient, names: ReadonlyArray<string>, now: Statement.Fragment) =>
  decodeSchedules(sql`
    SELECT name, ${sql.literal(handledUntil)} AS "handledUntil", ${now} AS now FROM scheduler_schedule
    WHERE name = ANY(${Rows.array("text", names)})
  `)

const create = (sql: SqlClient.SqlClient, names: ReadonlyArray<string>, now: Statement.Fragment) =>
  sql`
    INSERT INTO scheduler_schedule (name, handled_until)
    SELECT name, ${now} FROM ${Rows.table("wanted", names, { name: ["text", (name) => name] })}
    ORDER BY name COLLATE "C"
    ON CONFLICT (name) DO NOTHING
  `

const decodeSchedules = Rows.decodeAll(
  Schema.Struct({ name: Schema.String, handledUntil: Rows.timestamptz, now: Rows.timestamptz })
)
