/** The lease of a worker: takes it, renews it, and interrupts the worker's jobs when it ends. */
import { Clock, Duration, Effect, Latch, Random } from "effect"
import { Scheduler } from "../../Scheduler.ts"
import type { RunningJobs } from "./runningJobs.ts"
import { kindsOf, logFailure, type Settings } from "./settings.ts"

/** The lease of a worker. */
export interface WorkerLease {
  /** The id of the worker. */
  readonly id: string
  /** Returns the lease, or `undefined` while the worker has none. */
  readonly current: () => string | undefined
  /** Waits until the worker has a lease. */
  readonly isHeld: Effect.Effect<void>
  /** Takes and renews the lease, over and over. */
  readonly renew: Effect.Effect<never>
  /**
   * Interrupts the jobs when the lease ends that the worker could not renew. The end is
   * counted by the monotonic clock of this process, from before the last renewal was sent, so it is not
   * later than in the database, whatever the clocks and the network do.
   */
  readonly watch: Effect.Effect<never>
  /** Returns whether the worker claims jobs. */
  readonly isOffering: () => boolean
  /** Waits until the worker claims jobs. */
  readonly isOffered: Effect.Effect<void>
  /** Records whether the worker claims jobs. It does at first. */
  readonly offer: (offers: boolean) => Effect.Effect<void>
  /** Returns the lease. */
  readonly giveBack: Effect.Effect<void>
}

/** Creates the lease, which is not taken yet. */
export const make = Effect.fnUntraced(function*(settings: Settings, running: RunningJobs) {
  const scheduler = yield* Scheduler
  const id = settings.id ?? String(yield* Random.nextInt)
  const ttl = BigInt(Math.floor(Duration.toMillis(settings.lease) * 1e6))
  const held = Latch.makeUnsafe(false)
  const offered = Latch.makeUnsafe(true)
  let kinds = kindsOf(settings)
  let lease: string | undefined
  /** In monotonic nanoseconds. */
  let end = 0n

  const lose = Effect.gen(function*() {
    lease = undefined
    yield* held.close
    // A job that is settling writes under its epoch, and may be settled already.
    const jobs = running.jobs().filter(running.isWorking)
    for (const job of jobs) running.interrupt(job)
    yield* Effect.logWarning("The worker has lost its lease; its jobs are interrupted and run elsewhere", {
      worker: settings.name,
      jobs: jobs.map(({ job }) => job)
    })
  })

  const renewOrTake = Effect.gen(function*() {
    const sent = yield* Clock.monotonicTimeNanos
    const before = lease
    if (before === undefined) {
      lease = yield* scheduler.takeLease({
        id,
        worker: settings.name,
        kinds,
        slots: settings.concurrency,
        ttl: settings.lease
      })
      end = sent + ttl
      yield* held.open
      return
    }
    const isRenewed = yield* scheduler.renewLease({ lease: before, kinds, ttl: settings.lease })
    // It may have ended while the renewal was under way.
    if (lease !== before) return
    if (isRenewed) end = sent + ttl
    else yield* lose
  }).pipe(logFailure("Renewing the lease of the worker failed", undefined))

  const self: WorkerLease = {
    id,
    current: () => lease,
    isHeld: held.await,
    renew: Effect.andThen(renewOrTake, Effect.sleep(settings.heartbeatInterval)).pipe(Effect.forever),
    watch: Effect.gen(function*() {
      yield* held.await
      const left = end - (yield* Clock.monotonicTimeNanos)
      yield* left > 0n ? Effect.sleep(Duration.nanos(left)) : lose
    }).pipe(Effect.forever),
    isOffering: () => kinds.length > 0,
    isOffered: offered.await,
    offer: (offers) =>
      Effect.suspend(() => {
        kinds = offers ? kindsOf(settings) : []
        if (offers) offered.openUnsafe()
        else offered.closeUnsafe()
        return lease === undefined ? Effect.void : renewOrTake
      }),
    giveBack: Effect.suspend(() => lease === undefined ? Effect.void : scheduler.returnLease(lease)).pipe(
      logFailure("Returning the lease of the worker failed; it expires", undefined)
    )
  }
  return self
})
