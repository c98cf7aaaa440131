/** Where counters and places are kept. Stores load and write; the rules are in `Counter` and `Lease`. */
import type { StorageError } from "@kinora/persistence/StorageError"
import { Context, type DateTime, type Effect } from "effect"
import type * as Counter from "./Counter.ts"
import type * as Lease from "./Lease.ts"

/** What is taken in a counter. */
export interface Used extends Counter.Slot {
  readonly used: number
}

/** What to add to a counter. */
export interface Amount extends Counter.Slot {
  readonly amount: number
}

/** The port. Counters are asked for by distinct slots, sorted as `Counter.sorted` does. */
export class RateLimitStore extends Context.Service<RateLimitStore, {
  /**
   * Serves the demands as `Counter.grant` says, in one statement, exactly, also
   * when other processes do the same at the same time. Answers in any order.
   */
  readonly take: (
    kind: Counter.PeriodKind,
    demands: ReadonlyArray<Counter.Demand>
  ) => Effect.Effect<ReadonlyArray<Counter.Grant>, StorageError>

  /** Adds amounts, which may be negative, whatever the limit; no counter goes below 0. */
  readonly add: (kind: Counter.PeriodKind, amounts: ReadonlyArray<Amount>) => Effect.Effect<void, StorageError>

  /** What is taken; a slot without an answer is untouched. */
  readonly read: (
    kind: Counter.PeriodKind,
    slots: ReadonlyArray<Counter.Slot>
  ) => Effect.Effect<ReadonlyArray<Used>, StorageError>

  /** Deletes up to `limit` counters of periods before `period`; answers how many. */
  readonly sweepCounters: (
    kind: Counter.PeriodKind,
    period: number,
    limit: number
  ) => Effect.Effect<number, StorageError>

  /** Keeps the leases that `Lease.grant` grants, exactly as above; answers with them. */
  readonly acquire: (
    wanted: ReadonlyArray<Lease.Wanted>,
    at: DateTime.Utc
  ) => Effect.Effect<ReadonlyArray<Lease.Lease>, StorageError>

  /** Sets the ends of leases, and brings back those that are gone: whoever renews does hold the place. */
  readonly renew: (leases: ReadonlyArray<Lease.Lease>) => Effect.Effect<void, StorageError>

  /** Ends leases. */
  readonly release: (ids: ReadonlyArray<string>) => Effect.Effect<void, StorageError>

  /** How many leases of the key are live. */
  readonly held: (key: string, at: DateTime.Utc) => Effect.Effect<number, StorageError>

  /** Deletes up to `limit` leases that are over; answers how many. */
  readonly sweepLeases: (at: DateTime.Utc, limit: number) => Effect.Effect<number, StorageError>
}>()("@kinora/rate-limit/RateLimitStore") {}
