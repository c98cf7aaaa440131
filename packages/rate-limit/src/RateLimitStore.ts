/** The storage port of limits, places and budgets. */
import type { StorageError } from "@kinora/persistence/StorageError"
import { Context, type DateTime, type Effect } from "effect"
import type * as Counter from "./internal/counter.ts"
import type * as Lease from "./internal/lease.ts"

/** Stores counters and places. Callers pass each counter at most once per call, in the order of `Counter.sorted`. */
export class RateLimitStore extends Context.Service<RateLimitStore, {
  /**
   * Grants demands by the rule of `Counter.take`, atomically, also against other
   * processes. Returns one grant per demand, in any order.
   */
  readonly take: (
    kind: Counter.PeriodKind,
    demands: ReadonlyArray<Counter.Demand>
  ) => Effect.Effect<ReadonlyArray<Counter.Grant>, StorageError>

  /** Adds amounts by the rule of `Counter.add`. */
  readonly add: (kind: Counter.PeriodKind, amounts: ReadonlyArray<Counter.Amount>) => Effect.Effect<void, StorageError>

  /** Returns counters. Those without a result are 0. */
  readonly read: (
    kind: Counter.PeriodKind,
    slots: ReadonlyArray<Counter.Slot>
  ) => Effect.Effect<ReadonlyArray<Counter.Used>, StorageError>

  /** Deletes up to `limit` counters of periods before `period`. Returns the number of deleted counters. */
  readonly sweepCounters: (
    kind: Counter.PeriodKind,
    period: number,
    limit: number
  ) => Effect.Effect<number, StorageError>

  /** Stores the leases that the rule of `Lease.acquire` grants, in order and atomically. Returns the granted leases. */
  readonly acquire: (
    requests: ReadonlyArray<Lease.Acquire>,
    at: DateTime.Utc
  ) => Effect.Effect<ReadonlyArray<Lease.Lease>, StorageError>

  /** Extends leases. Stores a lease again if it is missing, since its holder still holds the place. */
  readonly renew: (leases: ReadonlyArray<Lease.Lease>) => Effect.Effect<void, StorageError>

  /** Deletes leases. */
  readonly release: (ids: ReadonlyArray<string>) => Effect.Effect<void, StorageError>

  /** Returns the number of live leases of a key. */
  readonly held: (key: string, at: DateTime.Utc) => Effect.Effect<number, StorageError>

  /** Deletes up to `limit` leases that have expired. Returns the number of deleted leases. */
  readonly sweepLeases: (at: DateTime.Utc, limit: number) => Effect.Effect<number, StorageError>
}>()("@kinora/rate-limit/RateLimitStore") {}
