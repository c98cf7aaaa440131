/** Storage port of what workers report about upstreams that fail. */
import type { StorageError } from "@kinora/persistence/StorageError"
import { Context, type DateTime, type Effect } from "effect"

/** An upstream that fails in a worker. A worker has no report of an upstream that works. */
export interface UpstreamReport {
  /** Id of the worker's offer in the scheduler. */
  readonly worker: string
  /** Name of the driver. */
  readonly upstream: string
  /** `paused`: no job is submitted before `retryAt`, and the upstream has failed for `pause_after`. */
  readonly status: "degraded" | "paused"
  /** When a job may test the upstream. In the past while a test is due. */
  readonly retryAt: DateTime.Utc
  /** When the report expires, unless the worker renews it. */
  readonly until: DateTime.Utc
}

/** Stores reports, at most one per worker and upstream. */
export class UpstreamReports extends Context.Service<UpstreamReports, {
  /** Inserts or replaces reports of a worker. Deletes the expired reports of other workers. */
  readonly put: (
    worker: string,
    reports: ReadonlyArray<UpstreamReport>,
    now: DateTime.Utc
  ) => Effect.Effect<void, StorageError>

  /** Deletes the reports of a worker about these upstreams. */
  readonly remove: (worker: string, upstreams: ReadonlyArray<string>) => Effect.Effect<void, StorageError>

  /** Returns the reports that have not expired, in no order. */
  readonly list: (now: DateTime.Utc) => Effect.Effect<ReadonlyArray<UpstreamReport>, StorageError>
}>()("@kinora/generations/UpstreamReports") {}
