/**
 * Storage port of generations. `Generations` decides which changes are allowed, under
 * the locks of ledger and scheduler. Each write names the states that it applies to,
 * so a late write changes nothing.
 */
import type { StorageError } from "@kinora/persistence/StorageError"
import { Context, type DateTime, Duration, type Effect, Schema } from "effect"
import type { Failure, Generation, GenerationId, Kind, Output, Plan, Status } from "./Generation.ts"
import type { UsageReads } from "./Usage.ts"

/** Start of an attempt of a generation. */
export interface Start {
  readonly id: GenerationId
  readonly at: DateTime.Utc
  /** Number of the attempt, from 1. Attempts that were returned or requeued do not count. */
  readonly attempt: number
  /** The epoch of the lease. */
  readonly epoch: number
  /** The name of the worker. */
  readonly worker: string
}

/** Newest attempts of a generation that are kept. */
export const attemptsKept = 20

/** The reason why an attempt ended without an end of its generation. */
export const AttemptEnd = Schema.Literals(["lost", "returned", "requeued"])
/** See the schema of the same name. */
export type AttemptEnd = typeof AttemptEnd.Type

/** An attempt of a generation. */
export const Attempt = Schema.Struct({
  attempt: Schema.Int,
  epoch: Schema.Int,
  worker: Schema.String,
  startedAt: Schema.DateTimeUtcFromString,
  /** `null` if the attempt runs, or ended with its generation. */
  endedAt: Schema.NullOr(Schema.DateTimeUtcFromString),
  /** `lost` with its worker, `returned` to the queue by it, or `requeued` by an operator; `null` like `endedAt`. */
  end: Schema.NullOr(AttemptEnd)
})
/** See the schema of the same name. */
export type Attempt = typeof Attempt.Type

/** The attempt of a generation under a lease. */
export interface AttemptKey {
  readonly id: GenerationId
  /** The epoch of the lease; `undefined` for the last attempt. */
  readonly epoch: number | undefined
}

/** End of a generation. A `failed` or `cancelled` one is marked as refunded. */
export interface Ending {
  readonly id: GenerationId
  readonly status: "completed" | "failed" | "cancelled"
  readonly at: DateTime.Utc
  /** Set for `failed`, otherwise `null`. */
  readonly failure: Failure | null
  /** Set for `completed`, otherwise `null`. */
  readonly output: Output | null
  /** Set for `completed`, otherwise `null`. */
  readonly resultExpiresAt: DateTime.Utc | null
}

/**
 * Time from the end of a generation until `attemptFiles` returns it. Much longer than a worker continues to store files after
 * it has lost its lease.
 */
export const attemptFilesKept: Duration.Duration = Duration.hours(1)

/** An ended generation whose attempts may have left files that its output does not contain. */
export interface AttemptFiles {
  readonly id: GenerationId
  /** The epoch of its last attempt. */
  readonly epoch: number
  /** `undefined` if the stored output cannot be decoded. */
  readonly output: Output | null | undefined
}

/** Filter and limit of a list. An absent filter matches everything. */
export interface Selection {
  readonly status?: Status | undefined
  readonly kind?: Kind | undefined
  readonly plan?: Plan | undefined
  /** Only generations with this id or a later one. */
  readonly from?: GenerationId | undefined
  /** Only generations with an earlier id. */
  readonly before?: GenerationId | undefined
  readonly limit: number
}

/** Filters of a list that no index has. An absent filter matches everything. */
export interface Filter {
  readonly model?: string | undefined
  /** Id of the API key that created them. */
  readonly key?: string | undefined
  /** Texts of which the prompt contains at least one. The letters A to Z match in either case. In lower case. */
  readonly texts?: ReadonlyArray<string> | undefined
}

/** Selects generations by filters that no index has, among a limited number of the newest selected ones. */
export interface FilteredSelection extends Selection, Filter {
  /** Maximum number of generations to read. */
  readonly readMax: number
}

/** Result of `filter`. */
export interface Filtered {
  readonly generations: ReadonlyArray<Generation>
  /** The oldest generation that was read, if `readMax` were read. Older ones may match. */
  readonly last: GenerationId | undefined
}

/** Filter and limit of a search in the generations of all accounts. An absent filter matches everything. */
export interface SearchSelection {
  readonly status?: Status | undefined
  readonly model?: string | undefined
  /** Only generations with this id or a later one. */
  readonly from?: GenerationId | undefined
  /** Only generations with an earlier id. */
  readonly before?: GenerationId | undefined
  readonly limit: number
}

/** The part of a generation that identifies its rows in other packages. */
export type Subject = Pick<Generation, "id" | "account" | "plan">

/** A completed generation whose download window has ended. */
export interface Expired {
  readonly id: GenerationId
  /** `undefined` if the stored output cannot be decoded. */
  readonly output: Output | undefined
}

/**
 * Stores generations. Every write belongs to the open unit of work.
 *
 * A row that cannot be decoded is still changed by a write. The write logs it and
 * omits it from its result, so that one damaged row does not block the others.
 */
export class GenerationStore extends Context.Service<
  GenerationStore,
  UsageReads & {
    /** Inserts new generations. */
    readonly insert: (generations: ReadonlyArray<Generation>) => Effect.Effect<void, StorageError>

    /** Returns the generations that exist, each once, in no particular order. */
    readonly find: (ids: ReadonlyArray<GenerationId>) => Effect.Effect<ReadonlyArray<Generation>, StorageError>

    /** Returns generations of an account, newest first. The cost depends on `limit` only. */
    readonly list: (account: string, selection: Selection) => Effect.Effect<ReadonlyArray<Generation>, StorageError>

    /**
     * Returns generations of an account that match all filters, newest first, at most `limit`, among the newest
     * `readMax` of the selection. The cost depends on `readMax` only.
     */
    readonly filter: (account: string, selection: FilteredSelection) => Effect.Effect<Filtered, StorageError>

    /** Returns generations of all accounts, newest first. The cost depends on `limit` and the number of models only. */
    readonly search: (selection: SearchSelection) => Effect.Effect<ReadonlyArray<Generation>, StorageError>

    /** Changes `pending` generations to `queued`. */
    readonly queue: (ids: ReadonlyArray<GenerationId>) => Effect.Effect<void, StorageError>

    /** Changes `queued` generations to `pending`. */
    readonly unqueue: (ids: ReadonlyArray<GenerationId>) => Effect.Effect<void, StorageError>

    /**
     * Changes `queued` generations to `processing`, and adds an attempt to these and to those that are
     * `processing`. Keeps the newest `attemptsKept` attempts. Returns those that changed, in no particular order.
     */
    readonly start: (starts: ReadonlyArray<Start>) => Effect.Effect<ReadonlyArray<Generation>, StorageError>

    /**
     * Changes `processing` generations to `completed`, and generations in any state that
     * is not final to `failed` or `cancelled`. The same statement adds the changed ones
     * to the usage of the UTC day of `at`. Returns those that changed, in no particular order.
     *
     * The files of the attempts of those that have started and fail, or complete with more than one attempt, are due
     * `attemptFilesKept` after `at`.
     */
    readonly end: (endings: ReadonlyArray<Ending>) => Effect.Effect<ReadonlyArray<Generation>, StorageError>

    /** Ends the last attempts of `processing` generations that have not ended, unless they are under another lease. */
    readonly endAttempts: (
      attempts: ReadonlyArray<AttemptKey>,
      at: DateTime.Utc,
      end: AttemptEnd
    ) => Effect.Effect<void, StorageError>

    /** Returns the newest attempts of a generation, oldest first. Earlier builds recorded none. */
    readonly attempts: (id: GenerationId) => Effect.Effect<ReadonlyArray<Attempt>, StorageError>

    /** Returns generations of these models that have not started, oldest first, except the excluded ones. */
    readonly waiting: (
      models: ReadonlyArray<string>,
      limit: number,
      except?: ReadonlyArray<GenerationId>
    ) => Effect.Effect<ReadonlyArray<Subject>, StorageError>

    /**
     * Returns completed generations that still have files, whose download window ended
     * at or before `now`, and that are not put off beyond `now`; oldest first.
     */
    readonly expired: (now: DateTime.Utc, limit: number) => Effect.Effect<ReadonlyArray<Expired>, StorageError>

    /** Hides generations from `expired` until the given time. */
    readonly putOff: (ids: ReadonlyArray<GenerationId>, until: DateTime.Utc) => Effect.Effect<void, StorageError>

    /** Removes the files from completed generations. The generations stay. */
    readonly clearOutput: (ids: ReadonlyArray<GenerationId>) => Effect.Effect<void, StorageError>

    /** Returns ended generations whose files of attempts are due at or before `now`, oldest first. */
    readonly attemptFiles: (
      now: DateTime.Utc,
      limit: number
    ) => Effect.Effect<ReadonlyArray<AttemptFiles>, StorageError>

    /** Changes when the files of attempts of ended generations are due. */
    readonly setAttemptFilesDue: (
      ids: ReadonlyArray<GenerationId>,
      due: DateTime.Utc
    ) => Effect.Effect<void, StorageError>

    /**
     * Records that the files of attempts that were due at `now` are deleted. Generations whose files are due later stay as they
     * are, because a late attempt may have stored files since.
     */
    readonly attemptFilesDeleted: (
      ids: ReadonlyArray<GenerationId>,
      now: DateTime.Utc
    ) => Effect.Effect<void, StorageError>

    /**
     * Deletes generations that ended before `before` and have no files, oldest first, and returns
     * their number. Skips those that another unit has locked.
     */
    readonly deleteEnded: (before: DateTime.Utc, limit: number) => Effect.Effect<number, StorageError>

    /**
     * Ends the download window of the account's results at `at`, so that `expired` returns them, and deletes generations of the
     * account that have ended and have no files, up to `limit`. Returns the number of deleted ones. Skips locked ones.
     */
    readonly forget: (account: string, at: DateTime.Utc, limit: number) => Effect.Effect<number, StorageError>

    /** Deletes usage of UTC days before `day` (YYYY-MM-DD), oldest first, and returns the number of rows. Skips locked rows. */
    readonly deleteUsage: (day: string, limit: number) => Effect.Effect<number, StorageError>
  }
>()("@kinora/generations/GenerationStore") {}
