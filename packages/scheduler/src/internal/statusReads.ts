/** Reads of workers, lanes and queues, of `Scheduler` and of its store. */
import type { StorageError } from "@kinora/persistence/StorageError"
import type { Effect } from "effect"
import type { LaneSelection, LaneStatus, Offer, Queue, WorkerSelection, WorkerStatus } from "./storeTypes.ts"

/** Reads of the state of the scheduler, for operators. */
export interface StatusReads {
  /** Returns what the workers claim whose lease holds, in no order. A worker that drains is left out. */
  readonly offers: Effect.Effect<ReadonlyArray<Offer>, StorageError>
  /** Returns a page of the workers whose lease holds, by id, those that drain included. */
  readonly workers: (selection: WorkerSelection) => Effect.Effect<ReadonlyArray<WorkerStatus>, StorageError>
  /** Returns a page of the lanes that have jobs, by id. Reads the jobs of these lanes only. */
  readonly lanes: (selection: LaneSelection) => Effect.Effect<ReadonlyArray<LaneStatus>, StorageError>
  /**
   * Counts the jobs and the workers of each kind and pool that has any, sorted by name.
   * Reads all jobs that have not ended, so call it every few seconds at most.
   */
  readonly queues: Effect.Effect<ReadonlyArray<Queue>, StorageError>
}
