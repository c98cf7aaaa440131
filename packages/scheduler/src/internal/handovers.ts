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

/** The workers of a process that take jobs. */
export interface Handovers {
  /** Adds a receiver. Returns a function that removes it. */
  readonly add: (receiver: Receiver) => () => void
  /**
   * Reserves a slot for the job and passes it to `enqueue`, which leases the job to the worker and returns it, or
   * `undefined`. Starts the job once `enqueue` has committed. Passes `undefined` if no worker has a slot.
   */
  readonly handOver: <A, E, R>(
    job: Offered,
    enqueue: (slot: Reserved | undefined) => Effect.Effect<readonly [A, ClaimedJob | undefined], E, R>
  ) => Effect.Effect<A, E, R>
}

/** Creates an empty set of receivers. */
export const make = (): Handovers => {
  const receivers = new Set<Receiver>()

  const reserve = Effect.fnUntraced(function*(job: Offered) {
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
    handOver: (job, enqueue) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(reserve(job), (slot) => {
          if (slot === undefined) return Effect.map(restore(enqueue(undefined)), ([result]) => result)
          return restore(enqueue(slot)).pipe(
            Effect.onError(() => slot.release),
            Effect.flatMap(([result, leased]) =>
              Effect.as(leased === undefined ? slot.release : slot.start(leased), result)
            )
          )
        })
      )
  }
}
