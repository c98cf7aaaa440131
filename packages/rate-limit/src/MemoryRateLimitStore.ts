/** Counters and places in the memory of the process, for tests and for hosts without a database. */
import { MemoryBackend } from "@kinora/persistence/UnitOfWork"
import { Effect, Layer } from "effect"
import type { Lease } from "./internal/lease.ts"
import * as Counters from "./internal/memory/counters.ts"
import * as Leases from "./internal/memory/leases.ts"
import { RateLimitStore } from "./RateLimitStore.ts"

/** A store whose counters and places end with its scope. */
export const layer: Layer.Layer<RateLimitStore, never, MemoryBackend> = Layer.effect(
  RateLimitStore,
  Effect.gen(function*() {
    const memory = yield* MemoryBackend
    const counters = Counters.make(memory)
    const leases = memory.makeMap<string, Lease>()
    return RateLimitStore.of({
      take: (kind, demands) => memory.access(() => demands.map((demand) => Counters.take(counters[kind], demand))),
      add: (kind, amounts) =>
        memory.access(() => {
          for (const amount of amounts) Counters.add(counters[kind], amount)
        }),
      read: (kind, slots) => memory.access(() => slots.map((slot) => Counters.read(counters[kind], slot))),
      sweepCounters: (kind, period, limit) => memory.access(() => Counters.sweep(counters[kind], period, limit)),
      acquire: (requests, at) => memory.access(() => Leases.acquire(leases, requests, at)),
      renew: (renewed) => memory.access(() => Leases.put(leases, renewed)),
      release: (ids) =>
        memory.access(() => {
          for (const id of ids) leases.delete(id)
        }),
      held: (key, at) => memory.access(() => Leases.countLive(leases, key, at)),
      sweepLeases: (at, limit) => memory.access(() => Leases.sweep(leases, at, limit))
    })
  })
)
