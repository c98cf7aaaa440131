/** Counters and places in the memory of the process, for tests and for hosts without a database. */
import * as DatabaseTime from "@kinora/persistence/DatabaseTime"
import { MemoryBackend } from "@kinora/persistence/UnitOfWork"
import { type DateTime, Effect, Layer } from "effect"
import * as Counter from "./internal/counter.ts"
import * as StoredBuckets from "./internal/memory/buckets.ts"
import * as Counters from "./internal/memory/counters.ts"
import { sweep } from "./internal/memory/expiringStates.ts"
import * as Leases from "./internal/memory/leases.ts"
import * as StoredWindows from "./internal/memory/windows.ts"
import { RateLimitStore } from "./RateLimitStore.ts"

/** A store whose counters and places end with its scope. */
export const layer: Layer.Layer<RateLimitStore, never, MemoryBackend> = Layer.effect(
  RateLimitStore,
  Effect.gen(function*() {
    const memory = yield* MemoryBackend
    const counters = Counters.make(memory)
    const windows: StoredWindows.StoredWindows = memory.makeMap()
    const buckets: StoredBuckets.StoredBuckets = memory.makeMap()
    const leases: Leases.Leases = memory.makeMap()
    /** Runs `body` with the current time. */
    const accessNow = <A>(body: (now: DateTime.Utc) => A) =>
      Effect.flatMap(DatabaseTime.inMemory, (now) => memory.access(() => body(now)))
    const accessAt = <A>(body: (at: number) => A) => accessNow(({ epochMilliseconds }) => body(epochMilliseconds))
    /** Runs `body` with the current period. */
    const accessCurrent = <A>(
      kind: Counter.PeriodKind,
      body: (current: Pick<Counter.Current, "at" | "endsAt" | "period">) => A
    ) =>
      accessAt((at) => {
        const period = Counter.periodOf(Counter.windows[kind], at)
        return body({ at, period, endsAt: Counter.endOf(Counter.windows[kind], period) })
      })
    return RateLimitStore.of({
      take: (kind, demands) => {
        if (kind === "window") return accessAt((at) => StoredWindows.takeAll(windows, demands, at))
        if (kind === "bucket") return accessAt((at) => StoredBuckets.takeAll(buckets, demands, at))
        return accessCurrent(kind, (current) => demands.map((demand) => Counters.take(counters[kind], demand, current)))
      },
      add: (kind, amounts) =>
        memory.access(() => {
          for (const amount of amounts) {
            if (kind === "window") StoredWindows.add(windows, amount)
            else Counters.add(counters[kind], amount)
          }
        }),
      read: (kind, wanted) => {
        if (kind === "window") return accessAt((at) => wanted.map((one) => StoredWindows.read(windows, one, at)))
        if (kind === "bucket") return accessAt((at) => wanted.map(({ key }) => StoredBuckets.read(buckets, key, at)))
        return accessCurrent(
          kind,
          ({ at, endsAt, period }) =>
            wanted.map(({ key }) => ({ ...Counters.read(counters[kind], { key, period }), at, endsAt }))
        )
      },
      sweepCounters: (kind, kept, limit) =>
        accessCurrent(kind, ({ period }) => Counters.sweep(counters[kind], period - kept, limit)),
      sweepExpired: (kind, limit) =>
        accessAt((at) => kind === "window" ? sweep(windows, at, limit) : sweep(buckets, at, limit)),
      acquire: (requests) => accessNow((now) => Leases.acquire(leases, requests, now)),
      renew: (places, lasts) =>
        accessNow((now) => Leases.put(leases, places.map((place) => ({ ...place, lasts })), now)),
      release: (places) =>
        memory.access(() => {
          for (const { id } of places) leases.delete(id)
        }),
      held: (key) => accessNow((now) => Leases.countLive(leases, key, now)),
      forget: (kind, key, limit) =>
        memory.access(() => {
          if (kind === "place") return Leases.forget(leases, key, limit)
          if (kind === "minute" || kind === "day") return Counters.forget(counters[kind], key, limit)
          const stored = kind === "window" ? windows : buckets
          const isFound = stored.get(key) !== undefined
          stored.delete(key)
          return isFound ? 1 : 0
        }),
      sweepLeases: (limit) => accessNow((now) => Leases.sweep(leases, now, limit))
    })
  })
)
