/** Pipelined units that are interrupted, lose their connection, or are outlived by a fiber. */
import { assert, it } from "@effect/vitest"
import { Cause, Deferred, Effect, Exit, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import * as Pipelining from "../src/Pipelining.ts"
import * as StorageError from "../src/StorageError.ts"
import { UnitOfWork } from "../src/UnitOfWork.ts"
import { cancelling, database, makeCells, makeFreezing, over, Refused, stateOf, tagOf } from "./PipelinedCells.ts"

/** Interrupts a statement as soon as it was handed to the driver, or while it waits for `BEGIN`, and continues. */
const interruptions = [
  [
    "a concurrent failure",
    (statement: Effect.Effect<unknown, unknown>) =>
      Effect.ignore(Effect.all([statement, new Refused()], { concurrency: "unbounded" }))
  ],
  ["a race", (statement: Effect.Effect<unknown, unknown>) => Effect.ignore(Effect.raceFirst(statement, Effect.void))],
  [
    "an interruption",
    (statement: Effect.Effect<unknown, unknown>) =>
      Effect.flatMap(Effect.forkChild(statement, { startImmediately: true }), Fiber.interrupt)
  ]
] as const

it.effect.each(interruptions)(
  "a unit that continues after %s of a statement is applied whole or not at all",
  ([, interrupt]) =>
    Effect.gen(function*() {
      const { atomically } = yield* UnitOfWork
      const { insert, keys, sql, writeAtCommit } = yield* makeCells
      const read = sql`SELECT 1`
      // The session is warm, so the statement does not wait for the connection.
      yield* atomically(read)
      const undone = yield* Effect.exit(atomically(Effect.all([interrupt(read), insert("undone", 1), new Refused()])))
      assert.isTrue(Exit.isFailure(undone))
      assert.deepStrictEqual(yield* keys, [])
      yield* atomically(Effect.all([read, writeAtCommit("a", 1), interrupt(read), writeAtCommit("b", 1)]))
      yield* atomically(Effect.all([writeAtCommit("c", 1), interrupt(read), writeAtCommit("d", 1)]))
      assert.deepStrictEqual(yield* keys, ["a", "b", "c", "d"])
    }).pipe(Effect.provide(over(database)))
)

it.effect("if BEGIN fails, no statement beside the one that carried it takes effect", () =>
  Effect.gen(function*() {
    const { keys, sql, write, writeAtCommit } = yield* makeCells
    const read = sql`SELECT 1`
    const writes = [
      write("a", 1),
      Effect.andThen(writeAtCommit("b", 1), sql`SELECT 2`),
      sql`WITH written AS (INSERT INTO cells (key, value) VALUES ('c', 1) RETURNING key) SELECT key FROM written`
    ]
    for (const beside of writes) {
      const unit = sql.withTransaction(Pipelining.both(read, beside))
      const exit = yield* Effect.exit(
        Effect.provideService(unit, SqlClient.BeginTransaction, "BEGIN ISOLATION LEVEL WRONG")
      )
      assert.isTrue(Exit.isFailure(exit))
    }
    assert.deepStrictEqual(yield* keys, [])
  }).pipe(Effect.provide(over(database))))

it.effect("a write that goes with a BEGIN that fails has no effect", () =>
  Effect.gen(function*() {
    const { insertBegun, keys, sql } = yield* makeCells
    const unit = sql.withTransaction(Pipelining.both(insertBegun("a", 1), sql`SELECT 1`))
    assert.strictEqual(stateOf(StorageError.fromSql("test", yield* Effect.flip(unit))), "22012")
    assert.deepStrictEqual(yield* keys, [])
  }).pipe(Effect.provide(over(cancelling))))

it.effect("a write with the condition takes effect in a transaction of any kind, in a savepoint, and without one", () =>
  Effect.gen(function*() {
    const { insertBegun, keys, sql } = yield* makeCells
    const serializable = Effect.provideService(SqlClient.BeginTransaction, "BEGIN ISOLATION LEVEL SERIALIZABLE")
    const inserted = yield* Effect.all([
      sql.withTransaction(insertBegun("a", 1)),
      sql.withTransaction(insertBegun("b", 1)).pipe(serializable),
      sql.withTransaction(sql.withTransaction(insertBegun("c", 1))),
      insertBegun("d", 1)
    ])
    assert.deepStrictEqual(inserted.flat(), [{ key: "a" }, { key: "b" }, { key: "c" }, { key: "d" }])
    assert.deepStrictEqual(yield* keys, ["a", "b", "c", "d"])
  }).pipe(Effect.provide(over(database))))

it.effect("of two effects, the failure is that of the statement that failed first", () =>
  Effect.gen(function*() {
    const { atomically } = yield* UnitOfWork
    const { keys, sql, write } = yield* makeCells
    const wrong = StorageError.mapSql("test")(sql`SELECT 1 / 0`)
    const right = StorageError.mapSql("test")(Effect.andThen(sql`SELECT 1`, sql`SELECT 2`))
    for (const effects of [[right, wrong], [wrong, right]] as const) {
      const error = yield* Effect.flip(atomically(Effect.andThen(write("a", 1), Pipelining.both(...effects))))
      assert.strictEqual(stateOf(error), "22012")
    }
    assert.deepStrictEqual(yield* keys, [])
  }).pipe(Effect.provide(over(database))))

it.effect("a write whose rows are not as they were loaded dies, immediately or with the commit", () =>
  Effect.gen(function*() {
    const { atomically } = yield* UnitOfWork
    const { keys, sql, write } = yield* makeCells
    const defect = new Error("stale")
    const check = Pipelining.writeCurrent(
      sql,
      sql`SELECT 1 / (SELECT count(*) FROM cells WHERE value = 2)`,
      () => defect
    )
    for (const effect of [check, Pipelining.atCommit(check)]) {
      assert.deepStrictEqual(yield* Effect.exit(atomically(Effect.andThen(write("a", 1), effect))), Exit.die(defect))
    }
    assert.deepStrictEqual(yield* keys, [])
  }).pipe(Effect.provide(over(database))))

it.effect("a deferred write that cannot be sent undoes a unit that recovers from the failure", () =>
  Effect.gen(function*() {
    const { atomically } = yield* UnitOfWork
    const { keys, sql, writeAtCommit } = yield* makeCells
    const read = sql`SELECT 1`
    const exit = yield* Effect.exit(atomically(Effect.all([
      read,
      writeAtCommit("a", 1),
      writeAtCommit("b", Symbol("no parameter")),
      writeAtCommit("c", 1),
      Effect.ignore(read)
    ])))
    assert.isTrue(Exit.isFailure(exit))
    assert.deepStrictEqual(yield* keys, [])
  }).pipe(Effect.provide(over(database))))

it.effect("a deferred write that cannot be sent is a failure of the transaction, and no defect", () =>
  Effect.gen(function*() {
    const { lock, sql, writeAtCommit } = yield* makeCells
    const exit = yield* Effect.exit(
      sql.withTransaction(Effect.andThen(lock("a"), writeAtCommit("a", Symbol("no parameter"))))
    )
    assert.isTrue(Exit.isFailure(exit) && Cause.hasFails(exit.cause))
  }).pipe(Effect.provide(over(database))))

it.effect("a fiber that outlives its unit writes nothing into the next one on the same connection", () =>
  Effect.gen(function*() {
    const { insert, keys, sql, writeAtCommit } = yield* makeCells
    const go = yield* Deferred.make<void>()
    const late = yield* sql.withTransaction(Effect.gen(function*() {
      yield* sql`SELECT 1`
      const writes = [Effect.asVoid(insert("late", 1)), Effect.orDie(writeAtCommit("deferred", 1))]
      return yield* Effect.forEach(
        writes,
        (write) => Effect.forkDetach(Effect.exit(Effect.andThen(Deferred.await(go), write)))
      )
    }))
    yield* sql.withTransaction(Effect.gen(function*() {
      yield* insert("a", 1)
      yield* Deferred.succeed(go, undefined)
      for (const exit of yield* Fiber.joinAll(late)) assert.isTrue(Exit.isFailure(exit))
      yield* insert("b", 1)
    }))
    assert.deepStrictEqual(yield* keys, ["a", "b"])
  }).pipe(Effect.provide(over(database))))

it.effect("effects of a callback of a commit run one after the other", () =>
  Effect.gen(function*() {
    const { sql } = yield* makeCells
    const steps: Array<string> = []
    const step = (name: string) =>
      Effect.gen(function*() {
        steps.push(`${name} begins`)
        yield* Effect.yieldNow
        steps.push(`${name} ends`)
      })
    yield* sql.withTransaction(Effect.andThen(sql`SELECT 1`, sql.afterCommit(Pipelining.both(step("a"), step("b")))))
    assert.deepStrictEqual(steps, ["a begins", "a ends", "b begins", "b ends"])
  }).pipe(Effect.provide(over(database))))

it.live("a unit that waits for a connection can be interrupted", () =>
  Effect.gen(function*() {
    const { database } = yield* makeFreezing
    yield* Effect.gen(function*() {
      const { sql } = yield* makeCells
      const [busy, done] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const hold = Effect.andThen(Deferred.succeed(busy, undefined), Deferred.await(done))
      // There are two connections, one of which is for units.
      const holder = yield* Effect.forkChild(sql.withTransaction(hold))
      yield* Deferred.await(busy)
      yield* Fiber.interrupt(yield* Effect.forkChild(sql.withTransaction(Effect.void), { startImmediately: true }))
      assert.isUndefined(holder.pollUnsafe())
      yield* Deferred.succeed(done, undefined)
      yield* Fiber.join(holder)
    }).pipe(Effect.provide(over(database)))
  }).pipe(Effect.scoped))

it.live("a unit whose connection was lost before it begins to commit runs again", () =>
  Effect.gen(function*() {
    const { cut, database } = yield* makeFreezing
    yield* Effect.gen(function*() {
      const { atomically } = yield* UnitOfWork
      const { keys, lock, writeAtCommit } = yield* makeCells
      let runs = 0
      yield* atomically(Effect.all([
        lock("account"),
        Effect.suspend(() => runs++ === 0 ? Effect.andThen(cut, immediate) : Effect.void),
        writeAtCommit("a", 1)
      ]))
      assert.deepStrictEqual([runs, yield* keys], [2, ["a"]])
    }).pipe(Effect.provide(over(database)))
  }).pipe(Effect.scoped))

it.live("a commit without a response sends a statement, so that the silence of the server is noticed", () =>
  Effect.gen(function*() {
    const { bytesSent, database, freeze, others, thaw } = yield* makeFreezing
    yield* Effect.gen(function*() {
      const unit = yield* forkFrozen(freeze, ["a"])
      yield* Effect.provide(lockAccount, others)
      const sent = yield* bytesSent
      yield* Effect.repeat(Effect.andThen(immediate, bytesSent), { until: (bytes) => bytes > sent })
      yield* thaw
      yield* Fiber.join(unit)
    }).pipe(Effect.ensuring(thaw), Effect.provide(over(database)))
  }).pipe(Effect.scoped))

it.live("a client that is frozen after its last read holds no lock", () =>
  Effect.gen(function*() {
    const { database, freeze, others, thaw } = yield* makeFreezing
    yield* Effect.gen(function*() {
      const unit = yield* forkFrozen(freeze, ["a", "b"])
      const seen = yield* Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        yield* sql`SET lock_timeout = '5s'`
        yield* lockAccount
        return yield* sql`SELECT key FROM cells ORDER BY key`
      }).pipe(Effect.provide(others))
      assert.isUndefined(unit.pollUnsafe())
      assert.deepStrictEqual(seen, [{ key: "a" }, { key: "account" }, { key: "b" }])
      yield* thaw
      yield* Fiber.join(unit)
      // The unit cannot be interrupted while it commits.
    }).pipe(Effect.ensuring(thaw), Effect.provide(over(database)))
  }).pipe(Effect.scoped))

it.live("a unit whose commit gets no response is unavailable, and does not run again", () =>
  Effect.gen(function*() {
    const { cut, database, freeze, others } = yield* makeFreezing
    yield* Effect.gen(function*() {
      let runs = 0
      const unit = yield* forkFrozen(Effect.andThen(Effect.sync(() => runs++), freeze), ["a"])
      yield* Effect.provide(lockAccount, others)
      yield* cut
      assert.strictEqual(tagOf(yield* Effect.flip(Fiber.join(unit))), "StorageError unavailable")
      assert.strictEqual(runs, 1)
    }).pipe(Effect.ensuring(cut), Effect.provide(over(database)))
  }).pipe(Effect.scoped))

it.live("a unit whose connection is lost before its last read runs again", () =>
  Effect.gen(function*() {
    const { cut, database } = yield* makeFreezing
    yield* Effect.gen(function*() {
      const { atomically } = yield* UnitOfWork
      const { keys, lock, writeAtCommit } = yield* makeCells
      let runs = 0
      yield* atomically(Effect.all([
        lock("account"),
        writeAtCommit("a", 1),
        Effect.suspend(() => runs++ === 0 ? cut : Effect.void),
        lock("account")
      ]))
      assert.deepStrictEqual([runs, yield* keys], [2, ["a"]])
    }).pipe(Effect.provide(over(database)))
  }).pipe(Effect.scoped))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Forks a unit that locks the account, freezes, and writes cells with its commit. Returns when it begins to commit. */
const forkFrozen = Effect.fnUntraced(function*(freeze: Effect.Effect<unknown>, keys: ReadonlyArray<string>) {
  const { atomically } = yield* UnitOfWork
  const { insert, lock, writeAtCommit } = yield* makeCells
  yield* insert("account", 1)
  const frozen = yield* Deferred.make<void>()
  const unit = yield* Effect.forkChild(atomically(Effect.all([
    lock("account"),
    freeze,
    ...keys.map((key) => writeAtCommit(key, 1)),
    Deferred.succeed(frozen, undefined)
  ])))
  yield* Deferred.await(frozen)
  return unit
})

/** Waits for the lock of the account, if a unit holds it. Afterwards the unit has committed. */
const lockAccount = Effect.flatMap(makeCells, ({ lock }) => lock("account"))

/** Returns after the events of sockets that have arrived. */
const immediate = Effect.callback<void>((resume) => {
  setImmediate(() => resume(Effect.void))
})
