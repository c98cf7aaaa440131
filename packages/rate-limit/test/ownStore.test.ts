/** A store of another storage, without transactions, that is written with the public modules only. */
import { RateLimitStore, StoreRules } from "@kinora/rate-limit"
import { suite } from "@kinora/rate-limit/testing"
import { Clock, Duration, Effect, HashMap, Layer, Result } from "effect"

const { Buckets, Counter, Lease, Windows } = StoreRules

/** Provides a store whose storage decides each call in one step, by the clock of Effect, and deletes by itself what has expired. */
const layerOwn = Layer.sync(RateLimitStore.RateLimitStore, () => {
  const counters = new Map<string, number>()
  const windows = new Map<string, StoreRules.Windows.Counts>()
  const buckets = new Map<string, StoreRules.Buckets.Bucket>()
  const leases = new Map<string, StoreRules.Lease.Place & { readonly until: number }>()
  const now = <A>(step: (at: number) => A) => Effect.map(Clock.currentTimeMillis, step)
  const none = Effect.succeed(0)

  /** The id of a counter of the calendar. */
  const idOf = (kind: StoreRules.Counter.CounterKind, { key, period }: StoreRules.Counter.Slot) =>
    JSON.stringify([kind, key, period])
  const slotAt = ({ key, window }: StoreRules.Counter.Counted, at: number) => {
    const period = Counter.periodOf(window, at)
    return { key, period, at, endsAt: Counter.endOf(window, period) }
  }
  const countsOf = ({ key, window }: StoreRules.Counter.Counted, at: number) =>
    windows.get(key) ?? Windows.empty(window, Counter.periodOf(window, at))
  const live = (at: number) => Array.from(leases.values()).filter(({ until }) => until > at)
  const put = (places: ReadonlyArray<StoreRules.Lease.Place>, until: number) => {
    for (const { id, key } of places) leases.set(id, { id, key, until })
  }

  return RateLimitStore.RateLimitStore.of({
    take: (kind, demands) =>
      now((at) =>
        demands.map((demand) => {
          if (kind === "window") {
            const { state, value } = Windows.take(countsOf(demand, at), demand, at)
            windows.set(demand.key, state)
            return { ...Windows.currentOf(demand, state, at), granted: value }
          }
          if (kind === "bucket") {
            const { state, value } = Buckets.take(buckets.get(demand.key) ?? Buckets.full(at), demand, at)
            buckets.set(demand.key, state)
            return { ...Buckets.currentOf(demand, state, at), granted: value }
          }
          const slot = slotAt(demand, at)
          const { state, value } = Counter.take(counters.get(idOf(kind, slot)) ?? 0, demand)
          counters.set(idOf(kind, slot), state)
          return { ...slot, used: state, granted: value }
        })
      ),
    add: (kind, amounts) =>
      Effect.sync(() => {
        for (const amount of amounts) {
          const id = kind === "window" ? amount.key : idOf(kind, amount)
          const counts = windows.get(id)
          if (kind !== "window") counters.set(id, Counter.add(counters.get(id) ?? 0, amount.amount))
          else if (counts !== undefined) windows.set(id, Windows.add(counts, amount))
        }
      }),
    read: (kind, counted) =>
      now((at) =>
        counted.map((one) => {
          const slot = slotAt(one, at)
          if (kind === "window") return Windows.currentOf(one, Windows.moved(countsOf(one, at), slot.period), at)
          if (kind === "bucket") return Buckets.storedOf(one.key, buckets.get(one.key) ?? Buckets.full(at), at)
          return { ...slot, used: counters.get(idOf(kind, slot)) ?? 0 }
        })
      ),
    acquire: (requests) =>
      now((at) => {
        let held: StoreRules.Lease.Live = HashMap.fromIterable(
          Array.from(Map.groupBy(live(at), ({ key }) => key), ([key, own]) => [key, own.length] as const)
        )
        return requests.flatMap((request) => {
          const decided = Lease.acquire(held, request)
          if (Result.isFailure(decided)) return []
          held = decided.success.state
          put([request], at + Duration.toMillis(request.lasts))
          return [decided.success.value]
        })
      }),
    renew: (places, lasts) => now((at) => put(places, at + Duration.toMillis(lasts))),
    release: (places) => Effect.sync(() => places.forEach(({ id }) => leases.delete(id))),
    held: (key) => now((at) => live(at).filter((lease) => lease.key === key).length),
    forget: (kind, key) =>
      Effect.sync(() => {
        const stored: Map<string, unknown> =
          { window: windows, bucket: buckets, place: leases, minute: counters, day: counters }[kind]
        const own = kind === "place"
          ? Array.from(leases.values()).flatMap((lease) => lease.key === key ? lease.id : [])
          : kind === "window" || kind === "bucket"
          ? [key]
          : Array.from(counters.keys()).filter((id) => id.startsWith(JSON.stringify([kind, key]).slice(0, -1) + ","))
        return own.filter((id) => stored.delete(id)).length
      }),
    sweepCounters: () => none,
    sweepExpired: () => none,
    sweepLeases: () => none
  })
})

suite("a storage without transactions", Layer.merge(layerOwn, StoreRules.layerNoUnits), {
  transactions: false,
  sweeps: false
})
