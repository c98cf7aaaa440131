/**
 * The time of the database, on which SQL stores compare leases, windows, due times and expiries.
 *
 * The clocks of hosts differ, so a statement does not receive the current time of its host.
 * It contains the expression `now`, and durations are parameters:
 *
 *     const now = yield* DatabaseTime.now
 *     yield* sql`UPDATE lease SET until = ${DatabaseTime.after(now, "8 seconds")} WHERE id = ${id} AND until > ${now}`
 *
 * This needs no round trip of its own. Under a virtual `Clock`, such as `TestClock`, the
 * expression is that clock's time as a parameter, so virtual time moves statements too.
 */
import { Clock, Context, DateTime, Duration, Effect } from "effect"
import { SqlClient, Statement } from "effect/sql"
import * as StorageError from "./StorageError.ts"

/**
 * Returns the SQL expression for the current time, of the type `timestamptz`:
 * `statement_timestamp()`, or a parameter under a virtual clock. It is the same within a
 * statement, and an index can be searched for it.
 */
export const now: Effect.Effect<Statement.Fragment> = Effect.withFiber((fiber) => {
  const clock = virtualClockOf(fiber.context)
  return Effect.succeed(
    clock === undefined
      ? Statement.fragment([Statement.literal("statement_timestamp()")])
      : Statement.fragment([
        Statement.parameter(new Date(clock.currentTimeMillisUnsafe())),
        Statement.literal("::timestamptz")
      ])
  )
})

/**
 * Returns the time in milliseconds that a storage other than a database has to use instead of that of its own clock, or
 * `undefined`: it is the time of a virtual clock, as in `now`.
 */
export const virtualMillis: Effect.Effect<number | undefined> = Effect.withFiber((fiber) =>
  Effect.succeed(virtualClockOf(fiber.context)?.currentTimeMillisUnsafe())
)

/** Returns the SQL expression for a time plus a duration. The duration is a parameter, in milliseconds. */
export const after = (time: Statement.Fragment, duration: Duration.Input): Statement.Fragment =>
  shifted(time, Duration.toMillis(duration))

/** Returns the SQL expression for a time minus a duration. The duration is a parameter, in milliseconds. */
export const before = (time: Statement.Fragment, duration: Duration.Input): Statement.Fragment =>
  shifted(time, -Duration.toMillis(duration))

/**
 * Returns the time that a store in memory uses instead of a database's: that of the
 * `DatabaseClock` if there is one, else of the fiber's `Clock`.
 */
export const inMemory: Effect.Effect<DateTime.Utc> = Effect.withFiber((fiber) => {
  const clock = Context.get(fiber.context, DatabaseClock) ?? Context.get(fiber.context, Clock.Clock)
  return Effect.succeed(DateTime.makeUnsafe(clock.currentTimeMillisUnsafe()))
})

/**
 * A clock that represents the database's in tests in which the `Clock` of a host differs from
 * it. Default `undefined`: the database's own clock, or the fiber's `Clock` if it is virtual.
 */
export const DatabaseClock: Context.Reference<Clock.Clock | undefined> = Context.Reference(
  "@kinora/persistence/DatabaseTime/DatabaseClock",
  { defaultValue: (): Clock.Clock | undefined => undefined }
)

/**
 * Converts times between the clocks of this host and the database within a statement. A time
 * of the host becomes its distance from the host's current time, which is a parameter.
 */
export interface HostClock {
  /** The expression for the current time of the database, as `now`. */
  readonly now: Statement.Fragment
  /** Returns the expression for a time of the host on the clock of the database. */
  readonly toDatabase: (time: DateTime.DateTime) => Statement.Fragment
  /** Returns how far a time of the host is after its current time, in milliseconds; negative if it is before. For columns of sets. */
  readonly millisUntil: (time: DateTime.DateTime) => number
  /** Returns the expression for a time of the database on the clock of the host. Null if the time is null. */
  readonly toHost: (time: Statement.Fragment) => Statement.Fragment
}

/**
 * Reads the clock of the host, for stores whose callers pass and get times of the host, such as
 * those of a worker that sleeps until a time. Under a virtual clock the conversions change nothing.
 */
export const hostClock: Effect.Effect<HostClock> = Effect.gen(function*() {
  const expression = yield* now
  const millis = yield* Clock.currentTimeMillis
  const millisUntil = (time: DateTime.DateTime) => time.epochMilliseconds - millis
  return {
    now: expression,
    toDatabase: (time) => shifted(expression, millisUntil(time)),
    millisUntil,
    toHost: (time) =>
      Statement.fragment([
        Statement.literal("("),
        Statement.parameter(new Date(millis)),
        // In seconds: the difference of two times has days, and a day of the session's zone can have 23 or 25 hours.
        Statement.literal("::timestamptz + extract(epoch FROM "),
        ...time.segments,
        Statement.literal(" - "),
        ...expression.segments,
        Statement.literal(")::float8 * interval '1 second')")
      ])
  }
})

/** How far the clock of this host is ahead of the database's. */
export interface ClockSkew {
  /** Negative if the host is behind. */
  readonly aheadMillis: number
  /** Round trip of the sample. The true skew differs by at most half of it. */
  readonly roundTripMillis: number
}

/**
 * Measures the skew between the clocks of this host and the database. Takes `samples` samples
 * (default 5), one after another, and returns the one with the smallest round trip.
 */
export const measureSkew = Effect.fn("DatabaseTime.measureSkew")(
  function*({ samples = 5 }: { readonly samples?: number | undefined } = {}) {
    let best = yield* sampleSkew
    for (let count = 1; count < samples; count++) {
      const sample = yield* sampleSkew
      if (sample.roundTripMillis < best.roundTripMillis) best = sample
    }
    return best
  },
  StorageError.mapSql("DatabaseTime.measureSkew")
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const systemClock = Context.get(Context.empty(), Clock.Clock)

/** The clock to use instead of the database's, or `undefined`. */
const virtualClockOf = (context: Context.Context<never>): Clock.Clock | undefined => {
  const given = Context.get(context, DatabaseClock)
  if (given !== undefined) return given
  const clock = Context.get(context, Clock.Clock)
  return clock.constructor === systemClock.constructor ? undefined : clock
}

const shifted = (time: Statement.Fragment, millis: number): Statement.Fragment =>
  Statement.fragment([
    Statement.literal("("),
    ...time.segments,
    Statement.literal(" + "),
    // Passed as text, since the driver infers other types for whole numbers than for fractions.
    Statement.parameter(String(millis)),
    Statement.literal("::float8 * interval '1 millisecond')")
  ])

const sampleSkew = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const expression = yield* now
  const started = yield* Clock.monotonicTimeNanos
  const sent = yield* Clock.currentTimeMillis
  const [row] = yield* sql<{ readonly millis: number }>`
    SELECT (extract(epoch FROM ${expression}) * 1000)::float8 AS millis
  `
  const roundTripMillis = Number((yield* Clock.monotonicTimeNanos) - started) / 1e6
  return { aheadMillis: sent + roundTripMillis / 2 - (row?.millis ?? Number.NaN), roundTripMillis }
})
