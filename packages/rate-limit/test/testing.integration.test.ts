/** The contract that others run on their stores fails for stores with a fault. */
import { assert, it } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence"
import { Duration, Effect, Exit, Layer } from "effect"
import { TestClock } from "effect/testing"
import { parts, services } from "../src/internal/contract/contract.ts"
import type { Register, Traits } from "../src/internal/contract/tests.ts"
import * as MemoryRateLimitStore from "../src/MemoryRateLimitStore.ts"
import { RateLimitStore } from "../src/RateLimitStore.ts"
import { layerNoUnits } from "../src/StoreRules.ts"
import { ofDatabases, ofRedis } from "./Traits.ts"

type Store = RateLimitStore["Service"]

/** Returns the names of the tests that fail for a store in memory with a fault. */
const failuresOf = Effect.fnUntraced(function*(fault: (store: Store) => Partial<Store>, traits: Traits = ofDatabases) {
  const units = traits.transactions ? UnitOfWork.layerMemory : Layer.provideMerge(layerNoUnits, UnitOfWork.layerMemory)
  const store = Layer.effect(RateLimitStore, Effect.map(RateLimitStore, (store) => ({ ...store, ...fault(store) })))
    .pipe(Layer.provide(MemoryRateLimitStore.layer), Layer.provideMerge(units))
  const failures: Array<string> = []
  for (const [part, registers] of Object.entries(parts)) {
    const tests: Array<Effect.Effect<void>> = []
    const test: Register = (name, body) => {
      const run = Effect.exit(Effect.scoped(Effect.provide(Effect.suspend(body), services(store))))
      tests.push(Effect.map(run, (exit) => {
        if (Exit.isFailure(exit)) failures.push(`${part}: ${name}`)
      }))
    }
    for (const register of registers) register(test, traits)
    // Each test has a store and a time of its own.
    for (const run of tests) yield* Effect.provide(run, TestClock.layer())
  }
  return failures
})

it.effect("passes for stores with and without transactions", () =>
  Effect.gen(function*() {
    assert.deepStrictEqual(yield* failuresOf(() => ({})), [])
    assert.deepStrictEqual(yield* failuresOf(() => ({}), ofRedis), [])
  }))

/** A store that stores another text than the key. Each counter is in a call of its own, as those of different processes are. */
const withKeys = (stored: (key: string) => string) => (store: Store): Partial<Store> => {
  const change = <A extends { readonly key: string }>(one: A) => ({ ...one, key: stored(one.key) })
  const each = <A extends { readonly key: string }, B, E>(
    ones: ReadonlyArray<A>,
    call: (one: A) => Effect.Effect<ReadonlyArray<B>, E>
  ) =>
    Effect.map(
      Effect.forEach(ones, (one) =>
        Effect.map(call(change(one)), (all) => all.map((found) => ({ ...found, key: one.key })))),
      (all) =>
        all.flat()
    )
  return {
    take: (kind, demands) => each(demands, (demand) => store.take(kind, [demand])),
    read: (kind, counters) => each(counters, (counter) => store.read(kind, [counter])),
    add: (kind, amounts) => Effect.forEach(amounts, (amount) => store.add(kind, [change(amount)]), { discard: true }),
    acquire: (requests) => store.acquire(requests.map(change)),
    renew: (places, lasts) => store.renew(places.map(change), lasts),
    release: (places) => store.release(places.map(change)),
    held: (key) => store.held(stored(key))
  }
}

/** Faults, and a test that notices each. */
const faults: ReadonlyArray<readonly [fault: string, (store: Store) => Partial<Store>, test: string]> = [
  [
    "forgets one set only",
    ({ forget }) => ({
      forget: (kind, key, limit) => Effect.map(forget(kind, key, limit), (count) => Math.min(count, limit - 1))
    }),
    "forget: forgets the leases of a key in sets, and a held place returns with its next renewal"
  ],
  [
    "forgets no token buckets",
    ({ forget }) => ({
      forget: (kind, key, limit) => kind === "bucket" ? Effect.succeed(0) : forget(kind, key, limit)
    }),
    "forget: forgets a key that is full, so that it begins anew (token buckets)"
  ],
  [
    "grants all takes",
    ({ take }) => ({ take: (kind, demands) => take(kind, demands.map((demand) => ({ ...demand, limit: 1e6 }))) }),
    "minutes: accepts exactly the limit of many concurrent hits of several processes"
  ],
  [
    "counts rejected takes",
    ({ add, take }) => ({
      take: (kind, demands) =>
        Effect.tap(take(kind, demands), (grants) =>
          kind === "bucket" ? Effect.void : add(
            kind,
            demands.flatMap(({ cost, key, takes }) => {
              const { granted, period } = grants.find((grant) => grant.key === key)!
              return [{ key, period, amount: (takes - granted) * cost }]
            })
          ))
    }),
    "minutes: does not count rejected hits"
  ],
  [
    "counts in a new window when the first hit arrives",
    ({ take }) => ({ take: (kind, demands) => take(kind === "minute" ? "day" : kind, demands) }),
    "minutes: resets on the full minute, not a minute after the first hit"
  ],
  [
    "counts in advance",
    ({ read, take }) => ({
      read: (kind, counted) =>
        Effect.andThen(
          take(kind, counted.map((one) => ({ ...one, cost: 1, limit: 1e6, takes: 1 }))),
          read(kind, counted)
        )
    }),
    "minutes: peeks without counting"
  ],
  [
    "adds nothing",
    () => ({ add: () => Effect.void }),
    "days: returns the unused part, and counts what was used beyond the reservation"
  ],
  [
    "sweeps nothing",
    () => ({
      sweepCounters: () => Effect.succeed(0),
      sweepExpired: () => Effect.succeed(0),
      sweepLeases: () => Effect.succeed(0)
    }),
    "days: deletes days before yesterday"
  ],
  [
    "takes a fixed window for a sliding one",
    ({ take }) => ({
      take: (kind, demands) =>
        take(kind, demands.map((demand) => ({ ...demand, window: { ...demand.window, parts: 1 } })))
    }),
    "sliding windows and token buckets: have at most the limit of a sliding window in every interval of its length"
  ],
  [
    "grants all places",
    ({ acquire }) => ({ acquire: (requests) => acquire(requests.map((request) => ({ ...request, max: 1e6 }))) }),
    "places: grants exactly the maximum to many concurrent requests of several processes"
  ],
  ["releases no place", () => ({ release: () => Effect.void }), "places: frees a place when its scope closes"],
  [
    "holds places longer",
    ({ acquire }) => ({
      acquire: (requests) => acquire(requests.map((request) => ({ ...request, lasts: Duration.minutes(1) })))
    }),
    "places: frees the places of a process that died when their leases end after 30 seconds"
  ],
  [
    "renews no place",
    () => ({ renew: () => Effect.void }),
    "places: renews places from now, and stores again those that are missing"
  ],
  [
    "compares keys without their case",
    withKeys((key) => key.toLowerCase()),
    "keys: of fixed windows are apart if they differ in case, accents, spaces, or at the end only"
  ],
  [
    "compares keys without spaces at the end",
    withKeys((key) => key.trimEnd()),
    "keys: of days are apart if they differ in case, accents, spaces, or at the end only"
  ],
  [
    "stores the beginning of long keys",
    withKeys((key) => key.slice(0, 128)),
    "keys: of places are apart if they differ in case, accents, spaces, or at the end only"
  ],
  [
    "adds nothing to windows",
    ({ add }) => ({ add: (kind, amounts) => kind === "window" ? Effect.void : add(kind, amounts) }),
    "windows: of the kind window fall by an amount that is given back, not below 0, and not after they have ended"
  ],
  [
    "sweeps leases without a limit",
    ({ sweepLeases }) => ({ sweepLeases: () => sweepLeases(1e6) }),
    "places: deletes up to the limit of leases that have ended, and no others"
  ]
]

for (const [fault, change, test] of faults) {
  it.effect(`fails for a store that ${fault}`, () =>
    Effect.gen(function*() {
      assert.include(yield* failuresOf(change), test)
    }))
}

it.effect("fails for a store that takes no part in units of work, unless it has none", () =>
  Effect.gen(function*() {
    const store = yield* Effect.provide(
      RateLimitStore,
      MemoryRateLimitStore.layer.pipe(Layer.provide(UnitOfWork.layerMemory))
    )
    assert.include(
      yield* failuresOf(() => store),
      "minutes: does not count hits of a unit of work that rolls back"
    )
  }))
