/** Compares the SQL of the store with the rules in TypeScript, on random states. */
import { assert, layer } from "@effect/vitest"
import { Decision } from "@kinora/persistence"
import { TestDatabase } from "@kinora/testkit"
import { DateTime, Duration, Effect, HashMap, Result, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { TestClock } from "effect/testing"
import * as Counter from "../src/internal/counter.ts"
import * as Lease from "../src/internal/lease.ts"
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

const Request = Schema.Struct({ key: between(0, 2), max: between(0, 5), livesSeconds: between(1, 20) })

/** The first element of each key, since a call has each counter at most once. */
const oncePerKey = <A extends { readonly key: number }>(all: ReadonlyArray<A>): ReadonlyArray<A> => [
  ...new Map(all.toReversed().map((one) => [one.key, one])).values()
]

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
            const period = Counter.periodOf(kind, at)
            yield* TestClock.setTime(at)
            const counters = new Map<string, number>()
            for (const step of steps) {
              if ("take" in step) {
                const demands = Counter.sorted(
                  oncePerKey(step.take).map(({ cost, key, limit, scale, takes }) => (
                    { key: keyOf(key), cost: cost * scale, limit: limit * scale, takes }
                  ))
                )
                const expected = demands.map((demand): Counter.Grant => {
                  const { state, value } = Counter.take(counters.get(demand.key) ?? 0, demand)
                  counters.set(demand.key, state)
                  return { key: demand.key, period, used: state, granted: value, at }
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
            const found = yield* store.read(kind, [0, 1, 2, 3].map(keyOf))
            assert.deepStrictEqual(
              Object.fromEntries(found.map(({ key, used }) => [key, used])),
              Object.fromEntries([0, 1, 2, 3].map((key) => [keyOf(key), counters.get(keyOf(key)) ?? 0]))
            )
          }),
        { arbitrary: { runs: 15 } }
      )
    }

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
