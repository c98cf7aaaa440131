/**
 * The connection of a transaction on a session that pipelines.
 *
 * `BEGIN` and deferred writes are held back until a statement, or `COMMIT`, goes with them in one network write. The server
 * runs what it has received in order, whether or not the client still does anything.
 */
import { Cause, Clock, Duration, Effect, Exit, Fiber, Semaphore, Stream } from "effect"
import { SqlError } from "effect/sql"
import type { Connection } from "effect/sql/SqlConnection"
import { always, hasBegun, mayFollow, recognizedBegin } from "./begin.ts"
import { commitNotSent, committed } from "./committed.ts"

/** The used part of a connection of `@effect/sql-pg` with `multiplex`. It sends a statement without waiting for the response to the previous one. */
export interface Session {
  readonly query: (
    sql: string,
    params?: ReadonlyArray<unknown>,
    prepare?: boolean
  ) => Effect.Effect<{ readonly rows: ReadonlyArray<object>; readonly command: string }, SqlError.SqlError>
  readonly queryValues: (
    sql: string,
    params?: ReadonlyArray<unknown>,
    prepare?: boolean
  ) => Effect.Effect<ReadonlyArray<ReadonlyArray<unknown>>, SqlError.SqlError>
  readonly stream: (sql: string, params?: ReadonlyArray<unknown>) => Stream.Stream<object, SqlError.SqlError>
}

/** A write whose rows nobody reads. */
interface DeferredWrite {
  /** Sends exactly one statement, without a wait before it. */
  readonly statement: Effect.Effect<unknown, SqlError.SqlError>
  /** Returns the defect that an error of the statement stands for, if it is not a failure of the storage. */
  readonly defectOf: (error: SqlError.SqlError) => unknown
}

/** The connection of a transaction. */
export interface PipelinedConnection extends Connection {
  /** Sends statements without what is held back. */
  readonly direct: Connection
  /** Begins the transaction with its first statement: by `statement`, or by one that `condition` recognizes. */
  readonly begin: (statement: string | undefined) => Effect.Effect<void>
  /** A condition that holds in the transaction. A statement that contains it may go with `BEGIN`, if it does nothing without it. */
  readonly condition: () => string
  /** Holds a write back until the next statement or the commit. */
  readonly defer: (write: DeferredWrite) => Effect.Effect<void, SqlError.SqlError>
  readonly commit: Effect.Effect<void, SqlError.SqlError>
  /** Rolls back what was sent, unless the transaction has ended. What is held back is not sent. */
  readonly rollback: Effect.Effect<void, SqlError.SqlError>
  /** Makes every further statement fail, since the session serves other transactions from now on. */
  readonly end: Effect.Effect<void>
  readonly hasEnded: () => boolean
}

/** Returns whether a connection is that of a pipelined transaction. */
export const isPipelined = (connection: Connection): connection is PipelinedConnection => "direct" in connection

/** Makes the connection of a transaction. No other transaction uses the session until `end`. */
export const make = (session: Session): PipelinedConnection => {
  const direct = directOf(session)
  const state: State = {
    condition: always,
    begin: undefined,
    beginning: undefined,
    isOpen: false,
    writes: [],
    failure: undefined,
    hasEnded: false
  }
  // Keeps the order of statements that are sent at the same time, one of which may have to wait for `BEGIN`.
  const turn = Semaphore.makeUnsafe(1)
  const send = <A>(sql: string, statement: Effect.Effect<A, SqlError.SqlError>) =>
    turn.withPermits(1)(sendWith(direct, state, sql, statement))
  const run = <A>(sql: string, statement: Effect.Effect<A, SqlError.SqlError>) =>
    Effect.flatMap(send(sql, statement), resultOf)
  const flush = Effect.suspend(() => run(state.writes.length === 0 ? "SELECT" : "", Effect.void))

  return {
    direct,
    begin: (statement) =>
      Effect.sync(() => {
        state.begin = statement ?? recognizedBegin
        if (statement === undefined) state.condition = hasBegun
      }),
    condition: () => state.condition,
    defer: (write) =>
      Effect.suspend(() => {
        if (state.failure !== undefined) return Effect.failCause(state.failure)
        state.writes.push(write)
        return Effect.void
      }),
    commit: commitOf(session, state, send),
    rollback: Effect.suspend(() => {
      const { isOpen } = state
      state.begin = undefined
      state.isOpen = false
      state.writes = []
      return isOpen ? Effect.asVoid(direct.execute("ROLLBACK", [], undefined)) : Effect.void
    }),
    end: Effect.sync(() => {
      state.hasEnded = true
      state.failure = Cause.fail(ended())
    }),
    hasEnded: () => state.hasEnded,
    execute: (sql, params, transform) => run(sql, direct.execute(sql, params, transform)),
    executeUnprepared: (sql, params, transform) => run(sql, direct.executeUnprepared(sql, params, transform)),
    executeRaw: (sql, params) => run(sql, direct.executeRaw(sql, params)),
    executeStream: (sql, params, transform) =>
      Stream.unwrap(Effect.as(flush, direct.executeStream(sql, params, transform))),
    executeValues: (sql, params) => run(sql, direct.executeValues(sql, params)),
    executeValuesUnprepared: (sql, params) => run(sql, direct.executeValuesUnprepared(sql, params))
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The progress of a transaction. */
interface State {
  condition: string
  /** The statement that begins the transaction, until it is sent. */
  begin: string | undefined
  /** That statement from when it is sent until it succeeds. */
  beginning: Fiber.Fiber<unknown, SqlError.SqlError> | undefined
  /** Whether the server has a transaction, as far as it was sent. */
  isOpen: boolean
  /** Writes that were not sent. */
  writes: Array<DeferredWrite>
  /** The reason for which nothing more may be sent. */
  failure: Cause.Cause<SqlError.SqlError> | undefined
  hasEnded: boolean
}

/** Statements that were sent in one write. */
interface Sent<A> {
  readonly beginning: Fiber.Fiber<unknown, SqlError.SqlError> | undefined
  readonly writes: ReadonlyArray<readonly [DeferredWrite, Fiber.Fiber<unknown, SqlError.SqlError>]>
  readonly last: Fiber.Fiber<A, SqlError.SqlError>
}

type Send = <A>(
  sql: string,
  statement: Effect.Effect<A, SqlError.SqlError>
) => Effect.Effect<Sent<A>, SqlError.SqlError>

/** Sends what is held back and a last statement. */
const sendWith = Effect.fnUntraced(function*<A>(
  direct: Connection,
  state: State,
  sql: string,
  last: Effect.Effect<A, SqlError.SqlError>
): Effect.fn.Return<Sent<A>, SqlError.SqlError> {
  if (state.failure !== undefined) return yield* Effect.failCause(state.failure)
  if (state.begin !== undefined) yield* Effect.uninterruptible(startBegin(direct, state, state.begin))
  if (state.beginning !== undefined && (state.writes.length > 0 || !mayFollow(sql))) yield* Fiber.join(state.beginning)
  return yield* Effect.uninterruptible(startAll(state, last))
})

const startBegin = Effect.fnUntraced(function*(direct: Connection, state: State, statement: string) {
  state.begin = undefined
  state.isOpen = true
  // Not prepared, since a preparation that was lost is repeated after the statements that follow.
  state.beginning = yield* start(
    direct.executeUnprepared(statement, [], undefined).pipe(
      Effect.tap(() =>
        Effect.sync(() => {
          state.beginning = undefined
        })
      ),
      Effect.tapCause((cause) =>
        Effect.sync(() => {
          state.isOpen = false
          state.failure = cause
        })
      )
    )
  )
})

/** Sends the writes that are held back and a last statement. */
const startAll = Effect.fnUntraced(function*<A>(
  state: State,
  last: Effect.Effect<A, SqlError.SqlError>
): Effect.fn.Return<Sent<A>, SqlError.SqlError> {
  const { beginning, writes } = state
  state.writes = []
  const sent: Array<Sent<A>["writes"][number]> = []
  for (const write of writes) {
    const fiber = yield* start(write.statement)
    // It was not sent, since it cannot be encoded or the connection is lost. So the unit lacks a write.
    if (hasFailed(fiber)) {
      yield* Effect.tapCause(Fiber.join(fiber), (cause) =>
        Effect.sync(() => {
          state.failure = cause
        })).pipe(failureOf(write))
    }
    sent.push([write, fiber])
  }
  return { beginning, writes: sent, last: yield* start(last) }
})

/**
 * Starts a statement and returns when it was handed to the driver. The driver drops a statement whose fiber is interrupted
 * before it is written, so the fiber cannot be interrupted, and does not end with its caller.
 */
const start = <A>(statement: Effect.Effect<A, SqlError.SqlError>) =>
  Effect.forkDetach(statement, { startImmediately: true, uninterruptible: true })

const hasFailed = (fiber: Fiber.Fiber<unknown, unknown>): boolean => {
  const exit = fiber.pollUnsafe()
  return exit !== undefined && Exit.isFailure(exit)
}

/** Waits for the responses in order, since the failure of a statement causes those of the statements after it. */
const resultOf = Effect.fnUntraced(function*<A>({ beginning, last, writes }: Sent<A>): Effect.fn.Return<
  A,
  SqlError.SqlError
> {
  if (beginning !== undefined) yield* Fiber.join(beginning)
  for (const [write, fiber] of writes) yield* failureOf(write)(Fiber.join(fiber))
  return yield* Fiber.join(last)
})

/** Changes the error of a write to the defect that it stands for. */
const failureOf = ({ defectOf }: DeferredWrite) => <A>(effect: Effect.Effect<A, SqlError.SqlError>) =>
  Effect.catch(effect, (error): Effect.Effect<A, SqlError.SqlError> => {
    const defect = defectOf(error)
    return defect === undefined ? Effect.fail(error) : Effect.die(defect)
  })

/** Commits, with what is held back. */
const commitOf = (session: Session, state: State, send: Send): Effect.Effect<void, SqlError.SqlError> =>
  Effect.suspend(() => {
    if (state.begin !== undefined && state.writes.length === 0) {
      state.begin = undefined
      return Effect.void
    }
    const statement = Effect.flatMap(session.query("COMMIT"), ({ command }) => committed(command))
    return Effect.flatMap(Effect.mapError(send("COMMIT", statement), commitNotSent), (sent) => {
      if (hasFailed(sent.last)) return Effect.mapError(resultOf(sent), commitNotSent)
      state.isOpen = false
      return observed(session, resultOf(sent))
    })
  })

/**
 * Sends a statement if there is no response after a second. Otherwise a server that stops after a part of the response
 * looks idle, and the connection is not ended.
 */
const observed = <A>(session: Session, responses: Effect.Effect<A, SqlError.SqlError>) =>
  Effect.flatMap(
    Effect.forkDetach(
      Effect.andThen(Effect.sleep(observedAfter), session.query("SELECT 1")).pipe(
        // The database has no test clock.
        Effect.provideService(Clock.Clock, Clock.Clock.defaultValue())
      )
    ),
    (fiber) => Effect.ensuring(responses, Fiber.interrupt(fiber))
  )

const observedAfter = Duration.seconds(1)

const ended = () => {
  const message = "The transaction of this connection has ended"
  return new SqlError.SqlError({
    reason: new SqlError.UnknownError({ cause: new Error(message), message, operation: "execute" })
  })
}

const directOf = (session: Session): Connection => {
  const rows = (prepare: boolean): Connection["execute"] => (sql, params, transform) =>
    Effect.map(
      session.query(sql, params, prepare),
      ({ rows }) => transform === undefined ? rows : transform(rows)
    )
  return {
    execute: rows(true),
    executeUnprepared: rows(false),
    executeRaw: (sql, params) => session.query(sql, params),
    executeStream: (sql, params, transform) => {
      const stream = session.stream(sql, params)
      return transform === undefined ? stream : Stream.mapArray(stream, (rows) => transform(rows) as typeof rows)
    },
    executeValues: (sql, params) => session.queryValues(sql, params),
    executeValuesUnprepared: (sql, params) => session.queryValues(sql, params, false)
  }
}
