/** Compares the SQL of the store with the rules in TypeScript, on random states. */
import { assert, layer } from "@effect/vitest"
import { Decision } from "@kinora/persistence"
import { TestDatabase } from "@kinora/testkit"
import { DateTime, Duration, Effect, HashMap, Result, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { TestClock } from "effect/testing"
import * as Buckets from "../src/internal/buckets.ts"
import * as Counter from "../src/internal/counter.ts"
import * as Lease from "../src/internal/lease.ts"
import * as Windows from "../src/internal/windows.ts"
import { RateLimitStore } from "../src/RateLimitStore.ts"
import * as Backend from "./Backend.ts"

const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/** Also amounts that need more than 32 bits. */
const scale = Schema.Literals([1, 3_000_000_000])

const Demand = Schema.Struct({
  key: between(0, 3),
  cost: between(0, 4),
  limit: between(0, 20),
  takes: between(1, 9),
  scale
})

const Amount = Schema.Struct({ key: between(0, 3), amount: between(-12, 12), scale })

const Step = Schema.Union([
  Schema.Struct({ take: Schema.Array(Demand) }),
  Schema.Struct({ add: Schema.Array(Amount) })
])

/** Windows by the key of their counters, as a key has one window. */
const windows: ReadonlyArray<Counter.Window> = [
  { length: 1_000, parts: 1 },
  { length: 60_000, parts: 1 },
  { length: 1_000, parts: 7 },
  { length: 90_000, parts: 20 }
]

/** Lengths of windows of token buckets by key. The products with limits are up to 6 * 10^13. */
const lengths = [1_000, 1_001, 7_000, 1_000]

const WindowStep = Schema.Struct({ after: Schema.Literals([0, 40, 700, 5_000, 200_000]), step: Step })

const Request = Schema.Struct({ key: between(0, 2), max: between(0, 5), livesSeconds: between(1, 20) })

/** The first element of each key, since a call has each counter at most once. */
const oncePerKey = <A extends { readonly key: number }>(all: ReadonlyArray<A>): ReadonlyArray<A> => [
  ...new Map(all.toReversed().map((one) => [one.key, one])).values()
]

/** Sorts counters by their keys. Those of different windows have different periods. */
const byKey = <A extends { readonly key: string }>(all: ReadonlyArray<A>): ReadonlyArray<A> =>
  all.toSorted((a, b) => a.key < b.key ? -1 : 1)

let runs = 0

for (const [name, database] of TestDatabase.all) {
  layer(Backend.over(database))(`SQL of limits (${name})`, (it) => {
    for (const kind of ["minute", "day"] as const) {
      it.effect.prop(
        `takes from and adds to counters of a ${kind} as the rules do`,
        [Schema.Array(Step)],
        ([steps]) =>
          Effect.gen(function*() {
            const store = yield* RateLimitStore
            const run = ++runs
            const keyOf = (key: number) => `${run} ${key}`
            const at = (run % 3) * 86_400_000
            const period = Counter.periodOf(Counter.windows[kind], at)
            yield* TestClock.setTime(at)
            const counters = new Map<string, number>()
            for (const step of steps) {
              if ("take" in step) {
                const demands = Counter.sorted(
                  oncePerKey(step.take).map(({ cost, key, limit, scale, takes }) => (
                    { key: keyOf(key), window: Counter.windows[kind], cost: cost * scale, limit: limit * scale, takes }
                  ))
                )
                const expected = demands.map((demand): Counter.Grant => {
                  const { state, value } = Counter.take(counters.get(demand.key) ?? 0, demand)
                  counters.set(demand.key, state)
                  const endsAt = Counter.endOf(demand.window, period)
                  return { key: demand.key, period, used: state, granted: value, at, endsAt }
                })
                assert.deepStrictEqual(Counter.sorted(yield* store.take(kind, demands)), expected)
              } else {
                const amounts = Counter.sorted(
                  oncePerKey(step.add).map(({ amount, key, scale }) => ({
                    key: keyOf(key),
                    period,
                    amount: amount * scale
                  }))
                )
                for (const { amount, key } of amounts) counters.set(key, Counter.add(counters.get(key) ?? 0, amount))
                yield* store.add(kind, amounts)
              }
            }
            const found = yield* store.read(
              kind,
              [0, 1, 2, 3].map((key) => ({ key: keyOf(key), window: Counter.windows[kind] }))
            )
            assert.deepStrictEqual(
              Object.fromEntries(found.map(({ key, used }) => [key, used])),
              Object.fromEntries([0, 1, 2, 3].map((key) => [keyOf(key), counters.get(keyOf(key)) ?? 0]))
            )
          }),
        { arbitrary: { runs: 15 } }
      )
    }

    it.effect.prop(
      "takes from and adds to windows as the rules do",
      [Schema.Array(WindowStep)],
      ([steps]) =>
        Effect.gen(function*() {
          const store = yield* RateLimitStore
          const run = ++runs
          const countedOf = (key: number): Counter.Counted => ({ key: `${run} ${key}`, window: windows[key]! })
          const states = new Map<string, Windows.Counts>()
          let at = (run % 3) * 86_400_000
          yield* TestClock.setTime(at)
          const stateOf = ({ key, window }: Counter.Counted) =>
            states.get(key) ?? Windows.empty(window, Counter.periodOf(window, at))
          for (const { after, step } of steps) {
            at += after
            yield* TestClock.setTime(at)
            if ("take" in step) {
              const demands = Counter.sorted(
                oncePerKey(step.take).map(({ cost, key, limit, scale, takes }) => (
                  { ...countedOf(key), cost: cost * scale, limit: limit * scale, takes }
                ))
              )
              const expected = demands.map((demand): Counter.Grant => {
                const { state, value } = Windows.take(stateOf(demand), demand, at)
                states.set(demand.key, state)
                return { ...Windows.currentOf(demand, state, at), granted: value }
              })
              assert.deepStrictEqual(byKey(yield* store.take("window", demands)), expected)
            } else {
              const amounts = oncePerKey(step.add.filter(({ key }) => windows[key]!.parts === 1)).map(
                ({ amount, key, scale }): Counter.Amount => {
                  const { key: name, window } = countedOf(key)
                  return { key: name, period: Counter.periodOf(window, at), amount: -Math.abs(amount * scale) }
                }
              )
              for (const amount of amounts) {
                const state = states.get(amount.key)
                if (state !== undefined) states.set(amount.key, Windows.add(state, amount))
              }
              yield* store.add("window", amounts)
            }
          }
          const counters = [0, 1, 2, 3].map(countedOf)
          const found = byKey(yield* store.read("window", counters))
          assert.deepStrictEqual(
            found,
            counters.map((counted) =>
              Windows.currentOf(counted, Windows.moved(stateOf(counted), Counter.periodOf(counted.window, at)), at)
            )
          )
        }),
      { arbitrary: { runs: 25 } }
    )

    it.effect.prop(
      "takes from token buckets as the rule does",
      [Schema.Array(
        Schema.Struct({ after: Schema.Literals([-300, 0, 1, 333, 5_000, 9_000_000_000]), take: Schema.Array(Demand) })
      )],
      ([steps]) =>
        Effect.gen(function*() {
          const store = yield* RateLimitStore
          const run = ++runs
          const countedOf = (key: number): Counter.Counted => ({
            key: `${run} ${key}`,
            window: { length: lengths[key]!, parts: 1 }
          })
          const states = new Map<string, Buckets.Bucket>()
          let at = 86_400_000_000
          yield* TestClock.setTime(at)
          for (const { after, take } of steps) {
            at += after
            yield* TestClock.setTime(at)
            const demands = Counter.sorted(
              oncePerKey(take).map(({ cost, key, limit, scale, takes }) => (
                { ...countedOf(key), cost: cost * scale, limit: limit * scale, takes }
              ))
            )
            const expected = demands.map((demand): Counter.Grant => {
              const { state, value } = Buckets.take(states.get(demand.key) ?? Buckets.full(at), demand, at)
              states.set(demand.key, state)
              return { ...Buckets.currentOf(demand, state, at), granted: value }
            })
            assert.deepStrictEqual(byKey(yield* store.take("bucket", demands)), expected)
          }
          const counters = [0, 1, 2, 3].map(countedOf)
          assert.deepStrictEqual(
            byKey(yield* store.read("bucket", counters)),
            counters.map(({ key }) => Buckets.storedOf(key, states.get(key) ?? Buckets.full(at), at))
          )
        }),
      { arbitrary: { runs: 25 } }
    )

    it.effect.prop(
      "acquires places as the rule does",
      [Schema.Array(Schema.Array(Request))],
      ([sets]) =>
        Effect.gen(function*() {
          const store = yield* RateLimitStore
          const random = yield* SecureRandom.SecureRandom
          const run = ++runs
          let at = DateTime.makeUnsafe("2026-11-20T00:00:00Z")
          let leases: ReadonlyArray<{ readonly key: string; readonly expiresAt: DateTime.Utc }> = []
          for (const set of sets) {
            at = DateTime.add(at, { seconds: 5 })
            yield* TestClock.setTime(at.epochMilliseconds)
            const requests: Array<Lease.Acquire> = []
            for (const { key, livesSeconds, max } of set) {
              const lasts = Duration.seconds(livesSeconds)
              requests.push({ id: yield* random.uuidV7(), key: `${run} ${key}`, max, lasts })
            }
            const live = leases.filter(({ expiresAt }) => DateTime.isGreaterThan(expiresAt, at))
            const counts = Map.groupBy(live, ({ key }) => key)
            const state = HashMap.fromIterable(Array.from(counts, ([key, live]) => [key, live.length] as const))
            const { results } = Decision.all(state, requests, Lease.acquire)
            const expected = results.filter(Result.isSuccess).map(({ success }) => success)
            assert.deepStrictEqual(yield* store.acquire(requests), expected)
            leases = [
              ...live,
              ...expected.map(({ key, lasts }) => ({ key, expiresAt: DateTime.addDuration(at, lasts) }))
            ]
            for (const key of [0, 1, 2].map((key) => `${run} ${key}`)) {
              assert.strictEqual(yield* store.held(key), leases.filter((lease) => lease.key === key).length)
            }
          }
        }).pipe(Effect.provide(SecureRandom.layerWebCrypto)),
      { arbitrary: { runs: 15 } }
    )
  })
}
