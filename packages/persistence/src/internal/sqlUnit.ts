/** Units of work as SQL transactions: their deadline, and their reruns after conflicts. */
import { Cause, Clock, Duration, Effect, Random } from "effect"
import type { SqlClient } from "effect/sql"
import type { Deadlines } from "../Deadlines.ts"
import * as StorageError from "../StorageError.ts"
import * as LockTimeout from "./lockTimeout.ts"
import * as LostConnection from "./lostConnection.ts"
import * as OpenUnit from "./openUnit.ts"

/** A unit did not reach its commit before its deadline. The cause of a `StorageError`. */
export class UnitTooLong extends Error {
  override readonly name = "UnitTooLong"
  constructor(deadline: Duration.Duration) {
    super(`The unit of work did not commit within ${Duration.format(deadline)}`)
  }
}

/** Runs a unit, and rolls it back if it has not begun to commit when its deadline passes. */
export const begin = <A, E, R>(
  sql: SqlClient.SqlClient,
  key: OpenUnit.UnitKey,
  effect: Effect.Effect<A, E, R>,
  { deadlines, lifetime, reruns }: {
    readonly deadlines: Deadlines
    readonly lifetime: Duration.Duration
    readonly reruns: number | undefined
  }
): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) => {
    const waitsForLocks = reruns !== undefined && !fiber.getRef(LockTimeout.CallerReruns)
    const progress: Progress = {
      isCommitting: false,
      isLate: false,
      reruns: reruns ?? 0,
      lockedUntil: waitsForLocks ? nowMillis() + Duration.toMillis(LockTimeout.lockWaitMax) : 0,
      lostUntil: nowMillis() + Duration.toMillis(LostConnection.lostMax)
    }
    const mayStop = () => {
      progress.isLate = true
      // The statement that commits has its own deadline, and whether the unit was applied is unknown until its response arrives.
      return !progress.isCommitting
    }
    const late = Effect.suspend(() => {
      const cause = new UnitTooLong(lifetime)
      const operation = "UnitOfWork.atomically"
      return Effect.fail(new StorageError.StorageError({ operation, reason: "unavailable", cause }) as E)
    })
    return deadlines.within(beginSql(sql, key, effect, progress), late, mayStop)
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The progress of an outermost unit. */
interface Progress {
  isCommitting: boolean
  /** Whether its deadline has passed, so that it does not run again. */
  isLate: boolean
  readonly reruns: number
  /** Time until which the unit runs again after a lock timeout, in milliseconds since 1970. */
  readonly lockedUntil: number
  /** Time until which the unit runs again after a lost connection, in milliseconds since 1970. */
  readonly lostUntil: number
}

/** Runs a unit as a transaction, or as a savepoint of the open one, and again after a conflict. */
const beginSql = <A, E, R>(
  sql: SqlClient.SqlClient,
  key: OpenUnit.UnitKey,
  effect: Effect.Effect<A, E, R>,
  progress: Progress,
  run = 0
): Effect.Effect<A, E, R> => {
  const setCommitting = (isCommitting: boolean) =>
    Effect.sync(() => {
      progress.isCommitting = isCommitting
    })
  return OpenUnit.begin(key, effect, (body) => sql.withTransaction(Effect.tap(body, () => setCommitting(true)))).pipe(
    Effect.catchCause((cause): Effect.Effect<A, E, R> => {
      const failure = StorageError.findInCause("UnitOfWork.atomically", cause)
      if (progress.isLate || !runsAgain(cause, failure, progress, run)) {
        return failure === undefined || Cause.hasInterruptsOnly(cause)
          ? Effect.failCause(cause as Cause.Cause<E>)
          : Effect.fail(failure as E)
      }
      return setCommitting(false).pipe(
        Effect.andThen(backOff(run)),
        Effect.andThen(beginSql(sql, key, effect, progress, run + 1))
      )
    })
  )
}

/** Returns whether nothing of a failed unit was applied, and a further run is allowed. */
const runsAgain = (
  cause: Cause.Cause<unknown>,
  failure: StorageError.StorageError | undefined,
  { isCommitting, lockedUntil, lostUntil, reruns }: Progress,
  run: number
): boolean => {
  if (LockTimeout.isIn(cause)) return nowMillis() < lockedUntil
  if (run >= reruns) return false
  if (failure?.reason === "conflict") return true
  const wasCommitSent = isCommitting && !LostConnection.isUnsentIn(cause)
  return !wasCommitSent && LostConnection.isIn(cause) && nowMillis() < lostUntil
}

/** Waits 4 ms, doubled with each run (up to 64 ms) and spread by half, so that transactions that conflicted do not run again at the same time. */
const backOff = (run: number) =>
  Effect.flatMap(Random.nextBetween(0.5, 1.5), (spread) => sleep(Duration.millis(4 * 2 ** Math.min(run, 4) * spread)))

const nowMillis = () => Clock.Clock.defaultValue().currentTimeMillisUnsafe()

/** Waits in real time, since the database has no test clock. */
const sleep = (duration: Duration.Duration) =>
  Effect.provideService(Effect.sleep(duration), Clock.Clock, Clock.Clock.defaultValue())
