/** The store in memory, for tests and for hosts that keep nothing. */
import { MemoryBackend } from "@kinora/persistence/UnitOfWork"
import { DateTime, Effect, Layer } from "effect"
import * as Counter from "./Counter.ts"
import * as Lease from "./Lease.ts"
import { RateLimitStore, type Used } from "./RateLimitStore.ts"

/** Keeps counters and places in the memory of the process. */
export const layer: Layer.Layer<RateLimitStore, never, MemoryBackend> = Layer.effect(
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
