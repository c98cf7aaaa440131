/**
 * What the use-cases need from storage. A store remembers; which change is allowed
 * is decided by `Generations` under the locks of ledger and scheduler. A change
 * names the states that it may start from, so a late one changes nothing.
 */
import type { StorageError } from "@kinora/persistence/StorageError"
import { Context, type DateTime, type Effect } from "effect"
import type { Failure, Generation, GenerationId, Kind, Output, Plan, Status } from "./Generation.ts"
import type { UsageRow, UsageSpan } from "./Usage.ts"

/** A generation that starts to run. */
export interface Start {
  readonly id: GenerationId
  readonly at: DateTime.Utc
}

/** A generation that ends: `completed` with its result, or refunded. */
export interface Ending {
  readonly id: GenerationId
  readonly status: "completed" | "failed" | "cancelled"
  readonly at: DateTime.Utc
  /** Of a failed one. */
  readonly failure: Failure | null
  /** Of a completed one. */
  readonly output: Output | null
  /** Of a completed one. */
  readonly resultExpiresAt: DateTime.Utc | null
}

/** Which generations of an account. What is absent excludes none. */
export interface Selection {
  readonly status?: Status | undefined
  readonly kind?: Kind | undefined
  readonly plan?: Plan | undefined
  /** Only those that were made before this one. */
  readonly before?: GenerationId | undefined
  readonly limit: number
}

/** A generation, by what leads to its rows in other packages. */
export type Subject = Pick<Generation, "id" | "account" | "plan">

/** A completed generation whose download window is over. */
export interface Expired {
  readonly id: GenerationId
  /** `undefined` where what is stored cannot be read. */
  readonly output: Output | undefined
}

/**
 * Keeps generations. Every write belongs to the open unit of work. One whose row cannot
 * be read changes all the same, and is logged and left out where writes answer with
 * what changed, so that it does not hold up the others of its set.
 */
export class GenerationStore extends Context.Service<GenerationStore, {
  /** Adds new generations. */
  readonly insert: (generations: ReadonlyArray<Generation>) => Effect.Effect<void, StorageError>

  /** The generations that exist, in no particular order; at most one for each id. */
  readonly find: (ids: ReadonlyArray<GenerationId>) => Effect.Effect<ReadonlyArray<Generation>, StorageError>

  /** Generations of an account, newest first. What it costs depends on the limit, not on how many there are. */
  readonly list: (account: string, selection: Selection) => Effect.Effect<ReadonlyArray<Generation>, StorageError>

  /** `pending` to `queued`. */
  readonly queue: (ids: ReadonlyArray<GenerationId>) => Effect.Effect<void, StorageError>

  /**
   * `queued` to `processing`. Answers with those that changed, as they are now, in no
   * particular order: the others had started before.
   */
  readonly start: (starts: ReadonlyArray<Start>) => Effect.Effect<ReadonlyArray<Generation>, StorageError>

  /**
   * `processing` to `completed`; any state that is not final to `failed` or
   * `cancelled`, and marked as refunded. What changes is counted in the usage of the
   * UTC day of `at`, in the same unit, and so once. Answers with those that changed, as
   * they are now, in no particular order.
   */
  readonly end: (endings: ReadonlyArray<Ending>) => Effect.Effect<ReadonlyArray<Generation>, StorageError>

  /** What was counted for an account, sorted by day, plan, model and kind. */
  readonly usage: (account: string, span: UsageSpan) => Effect.Effect<ReadonlyArray<UsageRow>, StorageError>

  /** Generations of these models that have not started, oldest first, without those named. */
  readonly waiting: (
    models: ReadonlyArray<string>,
    limit: number,
    except?: ReadonlyArray<GenerationId>
  ) => Effect.Effect<ReadonlyArray<Subject>, StorageError>

  /**
   * Completed generations whose download window ended at `now` or before, whose files
   * are still kept, and which were not put off beyond `now`; oldest first.
   */
  readonly expired: (now: DateTime.Utc, limit: number) => Effect.Effect<ReadonlyArray<Expired>, StorageError>

  /** Keeps these from `expired` until then. */
  readonly putOff: (ids: ReadonlyArray<GenerationId>, until: DateTime.Utc) => Effect.Effect<void, StorageError>

  /** Forgets the files of completed generations. The rows stay. */
  readonly clearOutput: (ids: ReadonlyArray<GenerationId>) => Effect.Effect<void, StorageError>
}>()("@kinora/generations/GenerationStore") {}
