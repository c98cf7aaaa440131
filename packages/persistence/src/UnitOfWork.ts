/**
 * A transaction that several packages share. None of them depends on another.
 *
 * A use-case wraps the calls of several packages in `atomically`. Each package
 * writes only its own tables, or its own memory maps. `layerSql` runs a unit as one
 * SQL transaction, `layerMemory` as one lock with an undo log.
 *
 * Keep slow work out of a unit: it holds a connection and locks, and its body may
 * run again after a conflict.
 */
import { Clock, Context, Duration, Effect, Exit, Layer, Semaphore } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import * as Deadlines from "./Deadlines.ts"
import * as External from "./internal/external/transaction.ts"
import { makeMemoryMap, type MemoryMap } from "./internal/memoryMap.ts"
import * as OpenUnit from "./internal/openUnit.ts"
import * as SqlUnit from "./internal/sqlUnit.ts"
import type * as StorageError from "./StorageError.ts"

export type { MemoryMap } from "./internal/memoryMap.ts"
export { UnitDoomed, UnitEnded } from "./internal/openUnit.ts"
export { UnitTooLong } from "./internal/sqlUnit.ts"

/** Runs the writes of several stores as one transaction. */
export class UnitOfWork extends Context.Service<UnitOfWork, {
  /**
   * Runs `effect` so that all its writes commit together or not at all: on failure,
   * defect and interruption alike.
   *
   * A nested call joins the open unit; concurrent nested calls run one after the
   * other. A nested call that fails dooms the unit, also if its failure is recovered:
   * the outermost call then dies with `UnitDoomed`. Return a refusal as a value if the
   * unit should continue after it.
   *
   * If the database reports a conflict (SQLSTATE 40001, 40P01), or that it ended the session
   * because the unit was idle for too long (25P03), the outermost call runs its body again,
   * up to `reruns` times. After a lock timeout (55P03) it does so for up to 2 seconds,
   * and holds no locks in between. If its connection was lost before its `COMMIT` was
   * written, it runs again up to `reruns` times within 4 seconds. A unit whose connection
   * was lost later is not repeated, since it may have committed.
   *
   * On SQL, a unit that has not begun to commit after `deadline` is rolled back and fails
   * with `StorageError` (`unavailable`). The wait for a connection counts.
   *
   * Inside a transaction that the caller opened with `sql.withTransaction` on the same
   * client, a unit is a savepoint: it commits with the caller's transaction, and a
   * conflict fails with `StorageError`, since only the caller can repeat the whole.
   */
  readonly atomically: <A, E, R>(
    effect: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, Exclude<E, SqlError.SqlError> | StorageError.StorageError, R>

  /**
   * Runs `effect` after the outermost unit or transaction has committed, in the order
   * of calls. Runs it immediately if none is open, and never if it rolls back. The
   * effect is lost if the process dies, so use it for wake-ups only; record what must
   * happen in a row. `atomically` returns when all effects have ended. They run outside of the unit, and a defect of one
   * does not stop the others.
   */
  readonly afterCommit: (effect: Effect.Effect<void>) => Effect.Effect<void>

  /** Returns whether the fiber is inside a unit, or inside a transaction of the same client. */
  readonly isOpen: Effect.Effect<boolean>

  /** Time until a unit has to commit, which single statements that take the place of a unit have too. Default 10 seconds. */
  readonly deadline?: Duration.Duration | undefined
}>()("@kinora/persistence/UnitOfWork") {}

/** Options for `layerSqlWith`. */
export interface UnitOfWorkOptions {
  /** How often a unit runs again after a conflict. Default 5. */
  readonly reruns?: number | undefined
  /** Time until a unit has to commit, with its reruns and the wait for a connection. Default 10 seconds. */
  readonly deadline?: Duration.Input | undefined
}

/** Provides units as transactions of the surrounding `SqlClient`. */
export const layerSqlWith = (
  { deadline = "10 seconds", reruns = 5 }: UnitOfWorkOptions
): Layer.Layer<UnitOfWork, never, SqlClient.SqlClient> =>
  Layer.effect(
    UnitOfWork,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const lifetime = Duration.fromInputUnsafe(deadline)
      // The database has no test clock.
      const deadlines = yield* Effect.provideService(
        Deadlines.make(lifetime),
        Clock.Clock,
        Clock.Clock.defaultValue()
      )
      // Every layer over one client has the same key, so that units of all its packages join.
      const key = OpenUnit.makeKey(sql.transactionService.key)

      const isInTransaction = Effect.withFiber((fiber) =>
        Effect.succeed(Context.getOrUndefined(fiber.context, sql.transactionService) !== undefined)
      )

      const isNested = Effect.withFiber((fiber) =>
        Effect.map(isInTransaction, (isIn) => isIn || fiber.getRef(External.Current) !== undefined)
      )

      return UnitOfWork.of({
        atomically: (effect) =>
          joinOr(
            key,
            effect,
            (effect) =>
              Effect.flatMap(
                isNested,
                (nested) =>
                  SqlUnit.begin(sql, key, effect, { deadlines, lifetime, reruns: nested ? undefined : reruns })
              )
          ),
        // The client runs callbacks with the services of this fiber, and the unit has ended by then.
        afterCommit: (effect) => sql.afterCommit(Effect.provideService(effect, key, undefined)),
        // A unit is a transaction of the client.
        isOpen: isInTransaction,
        deadline: lifetime
      })
    })
  )

/** Provides units as transactions of the surrounding `SqlClient`, with the default options. */
export const layerSql: Layer.Layer<UnitOfWork, never, SqlClient.SqlClient> = layerSqlWith({})

/**
 * The memory that a host commits in. Memory stores require it, and only
 * `layerMemory` provides it, so a host that mixes memory and SQL stores does not
 * compile.
 */
export class MemoryBackend extends Context.Service<MemoryBackend, {
  /**
   * Runs `body` while no unit of another fiber is open. Inside a unit it belongs to
   * that unit; outside, it commits by itself.
   */
  readonly access: <A>(body: () => A) => Effect.Effect<A>

  /** Creates a map whose writes are undone when their unit rolls back. Use it inside `access` only. */
  readonly makeMap: <K, V>() => MemoryMap<K, V>
}>()("@kinora/persistence/UnitOfWork/MemoryBackend") {}

/** Provides units in the memory of this process: one at a time, with an undo log. */
export const layerMemory: Layer.Layer<UnitOfWork | MemoryBackend> = Layer.effectContext(Effect.sync(() => {
  const key = OpenUnit.makeKey(`memory/${memories++}`)
  const lock = Semaphore.makeUnsafe(1)
  // The lock admits one unit at a time, so one pair of logs serves all.
  let undo: Array<() => void> | undefined
  let committed: Array<Effect.Effect<void>> = []

  const transaction = <A, E, R>(body: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.uninterruptibleMask((restore) => {
      let callbacks: ReadonlyArray<Effect.Effect<void>> = []
      const unit = Effect.suspend(() => {
        undo = []
        committed = []
        return Effect.exit(restore(body))
      }).pipe(Effect.flatMap((exit) => {
        if (Exit.isFailure(exit)) { for (const revert of undo!.toReversed()) revert() }
        else callbacks = committed
        undo = undefined
        return exit
      }))
      // A fiber that waits for the lock can be interrupted; `withPermits` releases it in every case.
      return restore(lock.withPermits(1)(Effect.uninterruptible(unit))).pipe(
        // On every exit, since an interruption can discard the value of a unit that has committed.
        Effect.onExit(() => Effect.forEach(callbacks, runCallback, { discard: true }))
      )
    })

  // Tests and acts in one step: a fiber may yield between two, and a unit begin.
  const access = <A>(body: () => A): Effect.Effect<A> =>
    Effect.suspend(() =>
      undo === undefined
        ? Effect.succeed(body())
        : joinOr(key, Effect.sync(body), lock.withPermits(1))
    )

  const isOpen = Effect.withFiber((fiber) => Effect.succeed(Context.get(fiber.context, key) !== undefined))

  return Context.make(
    UnitOfWork,
    UnitOfWork.of({
      atomically: (effect) => joinOr(key, effect, (effect) => OpenUnit.begin(key, effect, transaction)),
      afterCommit: (effect) =>
        Effect.flatMap(
          isOpen,
          (open) =>
            open ? Effect.sync(() => void committed.push(Effect.provideService(effect, key, undefined))) : effect
        ),
      isOpen
    })
  ).pipe(
    Context.add(
      MemoryBackend,
      MemoryBackend.of({ access, makeMap: () => makeMemoryMap((revert) => undo?.push(revert)) })
    )
  )
}))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Number of memories in this process. It distinguishes them, since several can be open. */
let memories = 0

/** Joins the unit that is open in this fiber, or runs `outermost`. */
const joinOr = <A, E, R>(
  key: OpenUnit.UnitKey,
  effect: Effect.Effect<A, E, R>,
  outermost: (effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
): Effect.Effect<A, Exclude<E, SqlError.SqlError>, R> =>
  Effect.withFiber((fiber) => {
    const unit = Context.get(fiber.context, key)
    return unit === undefined ? outermost(effect) : OpenUnit.join(key, unit, effect)
  }) as Effect.Effect<A, Exclude<E, SqlError.SqlError>, R> // `outermost` translates it; a joined unit fails as a whole

const runCallback = (callback: Effect.Effect<void>) =>
  Effect.catchCause(callback, (cause) => Effect.logError("A callback after a commit died", cause))
