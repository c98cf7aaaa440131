/**
 * The connection of a transaction on a session that pipelines.
 *
 * `BEGIN` and deferred writes are held back until a statement, or `COMMIT`, goes with them in one network write. The server
 * runs what it has received in order, whether or not the client still does anything.
 */
import { Effect, Exit, Fiber, Semaphore, Stream } from "effect"
import type { SqlError } from "effect/sql"
import type { Connection } from "effect/sql/SqlConnection"
import { committed } from "./committed.ts"

/** The used part of a connection of `@effect/sql-pg` with `multiplex`: it sends a statement before the response to the one before. */
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
  /** Begins the transaction with its first statement. */
  readonly begin: (statement: string) => Effect.Effect<void>
  /** Holds a write back until the next statement or the commit. */
  readonly defer: (write: DeferredWrite) => Effect.Effect<void>
  readonly commit: Effect.Effect<void, SqlError.SqlError>
  /** Rolls back, without sending what is held back. */
  readonly rollback: Effect.Effect<void, SqlError.SqlError>
}

/** Returns whether a connection is that of a pipelined transaction. */
export const isPipelined = (connection: Connection): connection is PipelinedConnection => "direct" in connection

/** Makes the connection of a transaction. No other transaction uses the session meanwhile. */
export const make = (session: Session): PipelinedConnection => {
  const direct = directOf(session)
  const state: State = { begin: undefined, writes: [], failure: undefined }
  // Keeps the order of statements that are sent at the same time, one of which may have to wait for `BEGIN`.
  const turn = Semaphore.makeUnsafe(1)

  /** Sends what is held back and a statement, and returns the result of that. */
  const run = <A>(sql: string, statement: Effect.Effect<A, SqlError.SqlError>): Effect.Effect<A, SqlError.SqlError> =>
    Effect.flatMap(turn.withPermits(1)(sendWith(direct, state, sql, statement)), resultOf)

  const flush = Effect.suspend(() => run(state.writes.length === 0 ? "SELECT" : "", Effect.void))

  const commit = Effect.suspend(() => {
    if (state.begin !== undefined && state.writes.length === 0) {
      state.begin = undefined
      return Effect.void
    }
    return Effect.flatMap(
      turn.withPermits(1)(sendWith(direct, state, "COMMIT", commitOf(session))),
      (sent) =>
        sent.last === undefined
          // Without it, the session would return to the pool within the transaction.
          ? Effect.andThen(Effect.exit(Effect.orDie(resultOf(sent))), (exit) => Effect.andThen(rollback, exit))
          : resultOf(sent)
    )
  })

  const rollback = Effect.suspend(() => {
    const isOpen = state.begin === undefined && state.failure === undefined
    state.begin = undefined
    state.writes = []
    return isOpen ? Effect.asVoid(direct.execute("ROLLBACK", [], undefined)) : Effect.void
  })

  return {
    direct,
    begin: (statement) =>
      Effect.sync(() => {
        state.begin = statement
      }),
    defer: (write) => Effect.sync(() => void state.writes.push(write)),
    commit,
    rollback,
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

/** The statements of a transaction that were not sent. */
interface State {
  /** The statement that begins the transaction. */
  begin: string | undefined
  writes: Array<DeferredWrite>
  /** The failure of `begin`, after which statements would run outside of a transaction. */
  failure: SqlError.SqlError | undefined
}

/** Statements that were sent in one write. */
interface Sent<A> {
  readonly begin: Fiber.Fiber<unknown, SqlError.SqlError> | undefined
  readonly writes: ReadonlyArray<readonly [DeferredWrite, Fiber.Fiber<unknown, SqlError.SqlError>]>
  /** `undefined` if a write before it could not be sent. */
  readonly last: Fiber.Fiber<A, SqlError.SqlError> | undefined
  readonly state: State
}

/** Sends what is held back and a last statement. */
const sendWith = Effect.fnUntraced(function*<A>(
  direct: Connection,
  state: State,
  sql: string,
  last: Effect.Effect<A, SqlError.SqlError>
): Effect.fn.Return<Sent<A>, SqlError.SqlError> {
  if (state.failure !== undefined) return yield* Effect.fail(state.failure)
  const { begin: statement, writes } = state
  state.begin = undefined
  state.writes = []
  const sent: Array<readonly [DeferredWrite, Fiber.Fiber<unknown, SqlError.SqlError>]> = []
  let begin: Sent<A>["begin"]
  if (statement !== undefined) {
    // Not prepared, since a preparation that was lost is repeated after the statements that follow.
    begin = yield* start(direct.executeUnprepared(statement, [], undefined))
    // If `BEGIN` fails, the server runs what follows outside of a transaction, where only a read has no effect.
    if (writes.length > 0 || !isRead(sql)) yield* begun(state, begin)
  }
  for (const write of writes) {
    const fiber = yield* start(write.statement)
    sent.push([write, fiber])
    // One that cannot be encoded was not sent, so nothing may follow it.
    if (hasFailed(fiber)) return { begin, writes: sent, last: undefined, state }
  }
  return { begin, writes: sent, last: yield* start(last), state }
})

/** Starts a statement and returns when it was sent. */
const start = <A>(statement: Effect.Effect<A, SqlError.SqlError>) =>
  Effect.forkChild(statement, { startImmediately: true, uninterruptible: "inherit" })

const hasFailed = (fiber: Fiber.Fiber<unknown, unknown>): boolean => {
  const exit = fiber.pollUnsafe()
  return exit !== undefined && Exit.isFailure(exit)
}

/** Waits for the responses in order, since the failure of a statement causes those of the statements after it. */
const resultOf = Effect.fnUntraced(function*<A>({ begin, last, state, writes }: Sent<A>): Effect.fn.Return<
  A,
  SqlError.SqlError
> {
  if (begin !== undefined) yield* begun(state, begin)
  for (const [{ defectOf }, fiber] of writes) {
    yield* Effect.catch(Fiber.join(fiber), (error) => {
      const defect = defectOf(error)
      return defect === undefined ? Effect.fail(error) : Effect.die(defect)
    })
  }
  // It was sent unless the write before it has failed.
  return yield* Fiber.join(last!)
})

const begun = (state: State, begin: Fiber.Fiber<unknown, SqlError.SqlError>) =>
  Effect.tapError(Fiber.join(begin), (error) =>
    Effect.sync(() => {
      state.failure = error
    }))

const isRead = (sql: string): boolean => /^\s*SELECT\b/i.test(sql)

const commitOf = (session: Session): Effect.Effect<void, SqlError.SqlError> =>
  Effect.flatMap(session.query("COMMIT"), ({ command }) => committed(command))

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
