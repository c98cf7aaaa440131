/** The storage port of limits, places and budgets. The time is the storage's (`DatabaseTime`). */
import type { StorageError } from "@kinora/persistence/StorageError"
import { Context, type Duration, type Effect } from "effect"
import type * as Counter from "./internal/counter.ts"
import type * as Lease from "./internal/lease.ts"

/**
 * Stores counters and places. Callers pass each counter at most once per call, in the order of `Counter.sorted`. All counters
 * of a call are of one kind. Calls inside a unit of work belong to it, except in Redis, which has none.
 *
 * Keys have up to 256 characters and are compared exactly: case, accents and spaces count.
 */
export class RateLimitStore extends Context.Service<RateLimitStore, {
  /**
   * Grants demands on the counters of the current period by the rule of `Counter.take`, on windows by that of
   * `Windows.take`, and on token buckets by that of `Buckets.take`. Each counter is decided atomically, also against other
   * processes. Returns one grant per demand, in any order.
   */
  readonly take: (
    kind: Counter.CounterKind,
    demands: ReadonlyArray<Counter.Demand>
  ) => Effect.Effect<ReadonlyArray<Counter.Grant>, StorageError>

  /** Adds amounts by the rule of `Counter.add`, and to fixed windows by that of `Windows.add`. */
  readonly add: (kind: Counter.AddedKind, amounts: ReadonlyArray<Counter.Amount>) => Effect.Effect<void, StorageError>

  /**
   * Returns the counters of the current period, one per key, in any order. Token buckets are returned as they are stored
   * (`Buckets.storedOf`).
   */
  readonly read: (
    kind: Counter.CounterKind,
    counters: ReadonlyArray<Counter.Counted>
  ) => Effect.Effect<ReadonlyArray<Counter.Current>, StorageError>

  /**
   * Deletes up to `limit` counters of periods before the current one and the `kept` periods
   * before it. Returns the number of deleted counters.
   */
  readonly sweepCounters: (
    kind: Counter.PeriodKind,
    kept: number,
    limit: number
  ) => Effect.Effect<number, StorageError>

  /** Deletes up to `limit` windows or buckets whose amounts no longer count. Returns the number of deleted ones. */
  readonly sweepExpired: (kind: "window" | "bucket", limit: number) => Effect.Effect<number, StorageError>

  /** Stores the leases that the rule of `Lease.acquire` grants, in order. Those of a key are decided atomically. Returns the granted leases. */
  readonly acquire: (
    requests: ReadonlyArray<Lease.Acquire>
  ) => Effect.Effect<ReadonlyArray<Lease.Lease>, StorageError>

  /** Extends leases by `lasts` from now. Stores a lease again if it is missing, since its holder still holds the place. */
  readonly renew: (places: ReadonlyArray<Lease.Place>, lasts: Duration.Duration) => Effect.Effect<void, StorageError>

  /** Deletes leases. */
  readonly release: (places: ReadonlyArray<Lease.Place>) => Effect.Effect<void, StorageError>

  /** Returns the number of live leases of a key. */
  readonly held: (key: string) => Effect.Effect<number, StorageError>

  /**
   * Deletes up to `limit` counters of a kind and exactly this key, of all periods, or leases of the key. A store that keeps them
   * in one value deletes all at once. Returns their number, which is less than `limit` only if no other is left. Waits for
   * units that have locked one of them.
   */
  readonly forget: (
    kind: Counter.CounterKind | "place",
    key: string,
    limit: number
  ) => Effect.Effect<number, StorageError>

  /** Deletes up to `limit` leases that have expired. Returns the number of deleted leases. */
  readonly sweepLeases: (limit: number) => Effect.Effect<number, StorageError>
}>()("@kinora/rate-limit/RateLimitStore") {}
