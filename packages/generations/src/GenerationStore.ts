/**
 * What the use-cases need from storage. A store remembers; which change is allowed
 * is decided by `Generations` under the locks of ledger and scheduler. A change
 * names the states that it may start from, so a late one changes nothing.
 */
import type { StorageError } from "@kinora/persistence/StorageError"
import { Context, type DateTime, type Effect } from "effect"
import type { Failure, Generation, GenerationId, Output } from "./Generation.ts"

/** A generation that starts to run. */
export interface Start {
  readonly id: GenerationId
  readonly at: DateTime.Utc
}

/** A generation whose result is stored. */
export interface Completion {
  readonly id: GenerationId
  readonly output: Output
  readonly at: DateTime.Utc
  readonly resultExpiresAt: DateTime.Utc
}

/** A generation that ends without a result and is refunded. */
export interface Ending {
  readonly id: GenerationId
  /** `null` for one that was cancelled. */
  readonly failure: Failure | null
  readonly at: DateTime.Utc
}

/** Keeps generations. Every write belongs to the open unit of work. */
export class GenerationStore extends Context.Service<GenerationStore, {
  /** Adds new generations. */
  readonly insert: (generations: ReadonlyArray<Generation>) => Effect.Effect<void, StorageError>

  /** The generations that exist, in no particular order; at most one for each id. */
  readonly find: (ids: ReadonlyArray<GenerationId>) => Effect.Effect<ReadonlyArray<Generation>, StorageError>

  /** `pending` to `queued`. */
  readonly queue: (ids: ReadonlyArray<GenerationId>) => Effect.Effect<void, StorageError>

  /** `queued` to `processing`. Answers with those that changed: the others had started before. */
  readonly start: (starts: ReadonlyArray<Start>) => Effect.Effect<ReadonlyArray<GenerationId>, StorageError>

  /** `processing` to `completed`. */
  readonly complete: (completions: ReadonlyArray<Completion>) => Effect.Effect<void, StorageError>

  /** Any state that is not final to `failed`, or to `cancelled` when there is no failure; marks it refunded. */
  readonly end: (endings: ReadonlyArray<Ending>) => Effect.Effect<void, StorageError>

  /** Generations of these models that have not started, oldest first. */
  readonly waiting: (
    models: ReadonlyArray<string>,
    limit: number
  ) => Effect.Effect<ReadonlyArray<Generation>, StorageError>

  /** Completed generations whose download window ended at `now` or before and whose files are still kept; oldest first. */
  readonly expired: (now: DateTime.Utc, limit: number) => Effect.Effect<ReadonlyArray<Generation>, StorageError>

  /** Forgets the files of completed generations. The rows stay. */
  readonly clearOutput: (ids: ReadonlyArray<GenerationId>) => Effect.Effect<void, StorageError>
}>()("@kinora/generations/GenerationStore") {}
