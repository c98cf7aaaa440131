/**
 * The one seam through which packages share a transaction without knowing each
 * other.
 *
 * A use-case wraps the calls of several packages in `atomically`; each package
 * touches only its own tables, or its own memory cells. `layerSql` opens one SQL
 * transaction, `layerMemory` takes one lock and keeps an undo log.
 *
 * Nothing slow belongs inside: a unit holds a connection and locks, and its body
 * may run again after a conflict.
 */
import { Cause, Clock, Context, Duration, Effect, Exit, Layer, Random, Semaphore } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import * as StorageError from "./StorageError.ts"

/** Runs several stores' writes as one. */
export class UnitOfWork extends Context.Service<UnitOfWork, {
  /**
   * Runs `effect` so that all its writes commit together or not at all: on
   * failure, defect and interruption alike.
   *
   * A nested call joins the open unit. One that fails dooms the whole unit, also
   * when somebody recovers from the failure on the way: the outermost call then
   * dies with `UnitDoomed`. What should go on after a refusal is a value.
   *
   * The outermost call runs its body again, up to `reruns` times, when the
   * database reports a conflict (SQLSTATE 40001, 40P01). A lost connection is
   * not repeated, since whether it committed is unknown.
   */
  readonly atomically: <A, E, R>(
    effect: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, Exclude<E, SqlError.SqlError> | StorageError.StorageError, R>

  /**
   * Runs `effect` once the open unit has committed, in the order of calls, and
   * never if it rolls back; at once when no unit is open. It is lost when the
   * process dies, so it may only wake somebody: what must happen is a row.
   */
  readonly afterCommit: (effect: Effect.Effect<void>) => Effect.Effect<void>
}>()("@kinora/persistence/UnitOfWork") {}

/** A nested unit failed, and somebody recovered from it instead of ending the unit. */
export class UnitDoomed extends Error {
  override readonly name = "UnitDoomed"
  constructor(cause: Cause.Cause<unknown>) {
    super("A nested unit of work failed, so the whole unit was rolled back", { cause: Cause.squash(cause) })
  }
}

/** Whether the calling fiber is inside a unit. */
export const isOpen: Effect.Effect<boolean> = Effect.withFiber((fiber) =>
  Effect.succeed(Context.get(fiber.context, OpenUnit) !== undefined)
)

/** What the layers of a unit of work can be told. */
export interface UnitOfWorkOptions {
  /** How often a unit runs again after a conflict. Default 5. */
  readonly reruns?: number | undefined
}

/** Units over the transactions of the surrounding `SqlClient`. */
export const layerSqlWith = (
  { reruns = 5 }: UnitOfWorkOptions
): Layer.Layer<UnitOfWork, never, SqlClient.SqlClient> =>
  Layer.effect(
    UnitOfWork,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient

      const outermost = <A, E, R>(effect: Effect.Effect<A, E, R>, run: number): Effect.Effect<A, E, R> =>
        runUnit(effect, (body) => sql.withTransaction(body)).pipe(
          Effect.catchCause((cause): Effect.Effect<A, E, R> => {
            const failure = StorageError.findInCause("UnitOfWork.atomically", cause)
            if (failure?.reason !== "conflict" || run >= reruns) {
              return failure === undefined || Cause.hasInterruptsOnly(cause)
                ? Effect.failCause(cause as Cause.Cause<E>)
                : Effect.fail(failure as E)
            }
            return Effect.andThen(
              backOff(run),
              outermost(effect, run + 1)
            )
          })
        )

      return UnitOfWork.of({
        atomically: (effect) => joinOr(effect, (effect) => outermost(effect, 0)),
        // The client keeps the services of the caller, whose unit is over by then.
        afterCommit: (effect) => sql.afterCommit(Effect.provideService(effect, OpenUnit, undefined))
      })
    })
  )

/** `layerSqlWith` with its defaults. */
export const layerSql: Layer.Layer<UnitOfWork, never, SqlClient.SqlClient> = layerSqlWith({})

/**
 * The memory that a host commits in. Memory stores require it, and only
 * `layerMemory` provides it, so a host that mixes memory and SQL stores does not
 * compile.
 */
export class MemoryBackend extends Context.Service<MemoryBackend, {
  /**
   * Runs `body` with no unit of another fiber in between. Inside a unit it
   * belongs to the unit; outside it is one of its own.
   */
  readonly access: <A>(body: () => A) => Effect.Effect<A>

  /** A map whose writes are undone when the unit that made them rolls back. Use it inside `access` only. */
  readonly makeMap: <K, V>() => MemoryMap<K, V>
}>()("@kinora/persistence/UnitOfWork/MemoryBackend") {}

/** A map with an undo log. Values are immutable: change one by setting another. Iterates in insertion order. */
export interface MemoryMap<K, V> {
  readonly get: (key: K) => V | undefined
  readonly has: (key: K) => boolean
  readonly set: (key: K, value: V) => void
  readonly delete: (key: K) => void
  readonly values: () => MapIterator<V>
  readonly size: () => number
}

/** Units in this process's memory: one at a time, with an undo log. */
export const layerMemory: Layer.Layer<UnitOfWork | MemoryBackend> = Layer.effectContext(Effect.sync(() => {
  const lock = Semaphore.makeUnsafe(1)
  // The lock lets one unit be open at a time, so one pair of logs serves all.
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
      // Whoever waits can be interrupted; `withPermits` knows at every moment whether the lock is his.
      return restore(lock.withPermits(1)(Effect.uninterruptible(unit))).pipe(
        // Also when an interruption takes the value of a unit that has committed.
        Effect.onExit(() => Effect.forEach(callbacks, runCallback, { discard: true }))
      )
    })

  // Looks and acts in one step: between two, a fiber may yield, and a unit begin.
  const access = <A>(body: () => A): Effect.Effect<A> =>
    Effect.suspend(() => undo === undefined ? Effect.succeed(body()) : joinOr(Effect.sync(body), lock.withPermits(1)))

  return Context.make(
    UnitOfWork,
    UnitOfWork.of({
      atomically: (effect) => joinOr(effect, (effect) => runUnit(effect, transaction)),
      afterCommit: (effect) =>
        Effect.flatMap(isOpen, (open) => open ? Effect.sync(() => void committed.push(effect)) : effect)
    })
  ).pipe(
    Context.add(
      MemoryBackend,
      MemoryBackend.of({
        access,
        makeMap: <K, V>() =>
          makeMap<K, V>((revert) => {
            undo?.push(revert)
          })
      })
    )
  )
}))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The unit that the fiber is in. `doomed` is why it can only roll back. */
interface Unit {
  doomed: Cause.Cause<unknown> | undefined
}

const OpenUnit = Context.Reference<Unit | undefined>("@kinora/persistence/UnitOfWork/OpenUnit", {
  defaultValue: () => undefined
})

/** Joins the open unit, dooming it if `effect` fails, or starts one by `outermost`. */
const joinOr = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  outermost: (effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
): Effect.Effect<A, Exclude<E, SqlError.SqlError>, R> =>
  Effect.withFiber((fiber) => {
    const unit = Context.get(fiber.context, OpenUnit)
    return unit === undefined ? outermost(effect) : Effect.onExit(effect, (exit) =>
      Effect.sync(() => {
        if (Exit.isFailure(exit)) unit.doomed ??= exit.cause
      }))
  }) as Effect.Effect<A, Exclude<E, SqlError.SqlError>, R>

/** Runs the body in `transaction` with a fresh unit, and rolls back a doomed one. */
const runUnit = <A, E, R, TransactionError>(
  effect: Effect.Effect<A, E, R>,
  transaction: (body: Effect.Effect<A, E, R>) => Effect.Effect<A, TransactionError, R>
): Effect.Effect<A, TransactionError, R> =>
  Effect.suspend(() => {
    const unit: Unit = { doomed: undefined }
    return transaction(
      Effect.flatMap(
        Effect.provideService(effect, OpenUnit, unit),
        (value) => unit.doomed === undefined ? Effect.succeed(value) : Effect.die(new UnitDoomed(unit.doomed))
      )
    )
  })

/**
 * Doubles from 4 ms, spread by half, so that the parties of a conflict do not meet
 * again. In real time: the database does not know of a test's clock.
 */
const backOff = (run: number) =>
  Effect.flatMap(Random.nextBetween(0.5, 1.5), (spread) => Effect.sleep(Duration.millis(4 * 2 ** run * spread))).pipe(
    Effect.provideService(Clock.Clock, Clock.Clock.defaultValue())
  )

const runCallback = (callback: Effect.Effect<void>) =>
  Effect.catchCause(callback, (cause) => Effect.logError("A callback after a commit died", cause))

const makeMap = <K, V>(log: (revert: () => void) => void): MemoryMap<K, V> => {
  const map = new Map<K, V>()
  const logOld = (key: K) => {
    if (map.has(key)) {
      const old = map.get(key) as V
      log(() => map.set(key, old))
    } else {
      log(() => map.delete(key))
    }
  }
  return {
    get: (key) => map.get(key),
    has: (key) => map.has(key),
    set: (key, value) => {
      logOld(key)
      map.set(key, value)
    },
    delete: (key) => {
      logOld(key)
      map.delete(key)
    },
    values: () => map.values(),
    size: () => map.size
  }
}
