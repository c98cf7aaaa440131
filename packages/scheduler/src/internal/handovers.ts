/**
 * Hands jobs to workers of this process in the unit of work that enqueues them.
 *
 * A worker that has found nothing to claim, and has room, gets the next job that this process enqueues, under its lease, so
 * that the job starts when the unit commits. Without a handover, the job waits for a wake-up and for a claim, which is
 * another commit.
 */
import { Effect } from "effect"
import type { ClaimedJob, JobAddress } from "../Job.ts"
import type { LeaseTerms } from "./storeTypes.ts"

/** A job to hand over. */
export interface Offered extends JobAddress {
  /** The name of its kind, with the pool if there is one. */
  readonly kind: string
}

/** A slot of a worker that is reserved for one job. */
export interface Reserved extends LeaseTerms {
  /** Starts the job, which the worker has leased, in the slot. */
  readonly start: (job: ClaimedJob) => Effect.Effect<void>
  /** Frees the slot. */
  readonly release: Effect.Effect<void>
}

/** A worker that takes jobs. Returns a slot for the job, or `undefined` if the worker would not claim it immediately. */
export type Receiver = (job: Offered) => Effect.Effect<Reserved | undefined>

/** Reserves a slot of a worker of this process for the job. Returns `undefined` if no worker has one. */
export type Reserve = (job: Offered) => Effect.Effect<Reserved | undefined>

/** The workers of a process that take jobs. */
export interface Handovers {
  /** Adds a receiver. Returns a function that removes it. */
  readonly add: (receiver: Receiver) => () => void
  /**
   * Runs `enqueue`, which reserves a slot once it has decided that the job can start, leases the job to the worker and returns it,
   * or `undefined`. Starts the job once `enqueue` has committed, and frees the slot if it was not leased. A slot is not reserved
   * before, since `enqueue` may wait for the lock of a lane.
   */
  readonly handOver: <A, E, R>(
    enqueue: (reserve: Reserve) => Effect.Effect<readonly [A, ClaimedJob | undefined], E, R>
  ) => Effect.Effect<A, E, R>
}

/** Creates an empty set of receivers. */
export const make = (): Handovers => {
  const receivers = new Set<Receiver>()

  const find = Effect.fnUntraced(function*(job: Offered) {
    for (const receiver of Array.from(receivers)) {
      const slot = yield* Effect.catchCause(
        receiver(job),
        (cause) =>
          Effect.as(
            Effect.logError("A worker could not reserve a slot for a job; the job is claimed", cause),
            undefined
          )
      )
      if (slot !== undefined) return slot
    }
    return undefined
  })

  return {
    add: (receiver) => {
      receivers.add(receiver)
      return () => void receivers.delete(receiver)
    },
    handOver: (enqueue) =>
      Effect.suspend(() => {
        let slot: Reserved | undefined
        const release = Effect.suspend(() => {
          const reserved = slot
          slot = undefined
          return reserved === undefined ? Effect.void : reserved.release
        })
        // The unit of `enqueue` runs again after a conflict.
        const reserve = (job: Offered) =>
          release.pipe(
            Effect.andThen(find(job)),
            Effect.tap((found) =>
              Effect.sync(() => {
                slot = found
              })
            ),
            Effect.uninterruptible
          )
        return Effect.uninterruptibleMask((restore) =>
          restore(enqueue(reserve)).pipe(
            Effect.flatMap(([result, leased]) =>
              Effect.as(leased === undefined || slot === undefined ? Effect.void : slot.start(leased), result)
            ),
            Effect.ensuring(release)
          )
        )
      })
  }
}
