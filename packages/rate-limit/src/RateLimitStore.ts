/** Where counters and places are kept. Stores load and write; the rules are in `Counter` and `Lease`. */
import type { StorageError } from "@kinora/persistence/StorageError"
import { MemoryBackend } from "@kinora/persistence/UnitOfWork"
import { Context, DateTime, Effect, Layer } from "effect"
import * as Counter from "./Counter.ts"
import * as Lease from "./Lease.ts"

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

/** Keeps counters and places in the memory of the process. */
export const layerMemory: Layer.Layer<RateLimitStore, never, MemoryBackend> = Layer.effect(
  RateLimitStore,
  Effect.gen(function*() {
    const memory = yield* MemoryBackend
    const counters = {
      minute: memory.makeMap<string, Used>(),
      day: memory.makeMap<string, Used>()
    }
    const leases = memory.makeMap<string, Lease.Lease>()

    const usedOf = (kind: Counter.PeriodKind, slot: Counter.Slot) =>
      counters[kind].get(Counter.slotText(slot))?.used ?? 0
    const set = (kind: Counter.PeriodKind, { key, period }: Counter.Slot, used: number) =>
      counters[kind].set(Counter.slotText({ key, period }), { key, period, used })
    const live = (at: DateTime.Utc) =>
      Array.from(leases.values()).filter((lease) => DateTime.isGreaterThan(lease.expiresAt, at))

    return RateLimitStore.of({
      take: (kind, demands) =>
        memory.access(() =>
          demands.map((demand) => {
            const grant = Counter.grant(demand, usedOf(kind, demand))
            set(kind, demand, grant.used)
            return grant
          })
        ),

      add: (kind, amounts) =>
        memory.access(() => {
          for (const amount of amounts) set(kind, amount, Math.max(usedOf(kind, amount) + amount.amount, 0))
        }),

      read: (kind, slots) =>
        memory.access(() => slots.map(({ key, period }) => ({ key, period, used: usedOf(kind, { key, period }) }))),

      sweepCounters: (kind, period, limit) =>
        memory.access(() => {
          const past = Array.from(counters[kind].values()).filter((counter) => counter.period < period).slice(0, limit)
          for (const counter of past) counters[kind].delete(Counter.slotText(counter))
          return past.length
        }),

      acquire: (wanted, at) =>
        memory.access(() => {
          const held = new Map<string, number>()
          for (const { key } of live(at)) held.set(key, (held.get(key) ?? 0) + 1)
          const granted = Lease.grant(wanted, held)
          for (const lease of granted) leases.set(lease.id, lease)
          return granted
        }),

      renew: (renewed) =>
        memory.access(() => {
          for (const lease of renewed) leases.set(lease.id, lease)
        }),

      release: (ids) =>
        memory.access(() => {
          for (const id of ids) leases.delete(id)
        }),

      held: (key, at) => memory.access(() => live(at).filter((lease) => lease.key === key).length),

      sweepLeases: (at, limit) =>
        memory.access(() => {
          const over = Array.from(leases.values())
            .filter((lease) => DateTime.isLessThanOrEqualTo(lease.expiresAt, at))
            .slice(0, limit)
          for (const lease of over) leases.delete(lease.id)
          return over.length
        })
    })
  })
)
