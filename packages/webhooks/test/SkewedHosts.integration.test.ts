/** Workers whose clocks differ agree on due times, leases and expiries. */
import { assert, layer } from "@effect/vitest"
import { DatabaseTime } from "@kinora/persistence"
import { SkewedClock, TestDatabase } from "@kinora/testkit"
import { DateTime, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { TestClock } from "effect/testing"
import { at, makeWorld, settlementOf } from "../src/internal/contract/world.ts"
import type { EndpointRecord } from "../src/WebhookStore.ts"
import { WebhookStore } from "../src/WebhookStore.ts"
import { over } from "./Fixture.ts"

const right = <A, E, R>(effect: Effect.Effect<A, E, R>) => effect

/** Operations of a worker, with the time of its host. */
const makeWorker = Effect.fnUntraced(function*({ endpoint: { id } }: EndpointRecord) {
  const store = yield* WebhookStore
  const after = (seconds: number) => Effect.map(DateTime.now, (now) => DateTime.add(now, { seconds }))
  return {
    claim: Effect.gen(function*() {
      return yield* store.claim([{ endpoint: id, limit: 10 }], yield* DateTime.now, yield* after(30))
    }),
    isDue: Effect.gen(function*() {
      const { endpoints } = yield* store.due(yield* DateTime.now, 1_000)
      return endpoints.some(({ endpoint }) => endpoint === id)
    }),
    /** Seconds until the next delivery is due. */
    nextIn: Effect.gen(function*() {
      const now = yield* DateTime.now
      const { nextAt } = yield* store.due(now, 1_000)
      return nextAt === null ? undefined : (nextAt.epochMilliseconds - now.epochMilliseconds) / 1_000
    }),
    expire: Effect.gen(function*() {
      return yield* store.expire(yield* after(-3_600), yield* DateTime.now, 10)
    }),
    sweep: Effect.flatMap(after(-3_600), (before) => store.sweep(before, 10)),
    after
  }
})

for (const [name, database] of TestDatabase.all) {
  layer(Layer.merge(over(database), SecureRandom.layerWebCrypto))(`Skewed hosts (${name})`, (it) => {
    for (const millis of [-120_000, 120_000]) {
      const skewed = SkewedClock.onHost(DatabaseTime.DatabaseClock, millis)
      for (const [place, own, other] of [["the first", skewed, right], ["the second", right, skewed]] as const) {
        const title = `the clock of ${place} of two workers is off by ${millis} ms`

        it.effect(`sends a delivery neither early nor twice when ${title}`, () =>
          Effect.gen(function*() {
            yield* TestClock.setTime(at(0).epochMilliseconds)
            const store = yield* WebhookStore
            const world = yield* makeWorld
            const endpoint = yield* world.endpoint()
            const worker = yield* makeWorker(endpoint)
            yield* own(Effect.flatMap(DateTime.now, (now) => world.publish([endpoint], now)))
            assert.isTrue(yield* other(worker.isDue))

            const [first] = yield* own(worker.claim)
            yield* TestClock.adjust("29999 millis")
            assert.deepStrictEqual(yield* other(worker.claim), [])
            const dueAt = yield* own(worker.after(60))
            yield* own(store.settle([settlementOf(first!, { _tag: "Again", dueAt })]))
            assert.deepStrictEqual([yield* own(worker.nextIn), yield* other(worker.nextIn)], [60, 60])
            yield* TestClock.adjust("59999 millis")
            assert.deepStrictEqual([yield* other(worker.isDue), yield* other(worker.claim)], [false, []])
            yield* TestClock.adjust("1 millis")
            const [second] = yield* other(worker.claim)
            assert.strictEqual(second!.delivery, first!.delivery)

            // A lease ends for both at the same time.
            yield* TestClock.adjust("29999 millis")
            assert.deepStrictEqual(yield* own(worker.claim), [])
            yield* TestClock.adjust("1 millis")
            const [third] = yield* own(worker.claim)
            yield* own(Effect.flatMap(worker.after(10), (due) => store.release([third!], due)))
            yield* TestClock.adjust("9999 millis")
            assert.isFalse(yield* other(worker.isDue))
            yield* TestClock.adjust("1 millis")
            const [last] = yield* other(worker.claim)
            yield* other(store.settle([settlementOf(last!, { _tag: "Delivered" })]))
          }))

        it.effect(`signs with an older secret until its overlap ends when ${title}`, () =>
          Effect.gen(function*() {
            yield* TestClock.setTime(at(1_000).epochMilliseconds)
            const store = yield* WebhookStore
            const world = yield* makeWorld
            const record = yield* world.endpoint()
            const { account, id } = record.endpoint
            const worker = yield* makeWorker(record)
            const createdAt = yield* DateTime.now
            yield* own(Effect.flatMap(worker.after(60), (expiresAt) =>
              store.saveEndpoint({
                ...record,
                secrets: [
                  { sealed: "key.nonce.new", createdAt, expiresAt: null },
                  { sealed: "key.nonce.old", createdAt, expiresAt }
                ]
              })))
            const [, old] = (yield* other(store.loadEndpoint(account, id)))!.secrets
            assert.deepStrictEqual(old!.expiresAt, yield* other(worker.after(60)))
            const signing = Effect.gen(function*() {
              yield* Effect.flatMap(DateTime.now, (now) => world.publish([record], now))
              const [claimed] = yield* worker.claim
              yield* store.settle([settlementOf(claimed!, { _tag: "Delivered" })])
              return claimed!.secrets.length
            })
            yield* TestClock.adjust("59999 millis")
            assert.strictEqual(yield* other(signing), 2)
            yield* TestClock.adjust("1 millis")
            assert.strictEqual(yield* other(signing), 1)
          }))

        it.effect(`expires and deletes deliveries in time when ${title}`, () =>
          Effect.gen(function*() {
            yield* TestClock.setTime(at(2_000).epochMilliseconds)
            const store = yield* WebhookStore
            const world = yield* makeWorld
            const endpoint = yield* world.endpoint()
            const worker = yield* makeWorker(endpoint)
            // Those of other tests.
            while ((yield* store.sweep(at(100_000), 100)) > 0);
            yield* own(Effect.flatMap(DateTime.now, (now) => world.publish([endpoint], now)))
            yield* TestClock.adjust("1 hour")
            assert.strictEqual(yield* other(worker.expire), 0)
            yield* TestClock.adjust("1 millis")
            assert.strictEqual(yield* other(worker.expire), 1)
            assert.strictEqual(yield* own(worker.sweep), 1)
          }))
      }
    }
  })
}
