import { assert, layer } from "@effect/vitest"
import { DatabaseTime, type UnitOfWork } from "@kinora/persistence"
import { SkewedClock } from "@kinora/testkit"
import { Context, Deferred, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Found, Outcome } from "../src/Claim.ts"
import { Idempotency, layer as layerIdempotency } from "../src/Idempotency.ts"
import { IdempotencyKey } from "../src/IdempotencyKey.ts"
import { IdempotencyStore } from "../src/IdempotencyStore.ts"
import { requestOf } from "../src/internal/contract/requests.ts"

/** The guarantees of `Idempotency` on every backend. */
export const suite = <E>(name: string, backend: Layer.Layer<IdempotencyStore | UnitOfWork.UnitOfWork, E>) =>
  layer(layerIdempotency.pipe(Layer.provideMerge(backend)))(`Idempotency (${name})`, (it) => {
    for (const millis of [-120_000, 120_000]) {
      it.effect(`claims a request without a key once when the clock of a host is off by ${millis} ms`, () =>
        Effect.gen(function*() {
          const onHost = SkewedClock.onHost(DatabaseTime.DatabaseClock, millis)
          const right = yield* Idempotency
          const skewed = yield* onHost(instance)
          const request = requestOf(`skewed by ${millis}`, implicit)
          const claimOn = (reference: string) => {
            const claim = { ...request, reference }
            return reference.startsWith("skewed")
              ? onHost(Effect.tap(skewed.claimAll([claim]), skewed.sweep(10)))
              : right.claimAll([claim])
          }
          const found = (find: typeof right.find) => Effect.map(find(request), ({ _tag }) => _tag)
          for (const [first, second] of [["right 1", "skewed 1"], ["skewed 2", "right 2"]] as const) {
            assert.deepStrictEqual(yield* claimOn(first).pipe(tags), ["Claimed"])
            assert.deepStrictEqual(yield* claimOn(second), [Outcome.Replay({ reference: first })])
            yield* TestClock.adjust("60 seconds")
            yield* onHost(skewed.extend({ ...request, reference: first }))
            yield* TestClock.adjust("119999 millis")
            assert.deepStrictEqual(yield* claimOn(second), [Outcome.Replay({ reference: first })])
            assert.deepStrictEqual([yield* found(right.find), yield* onHost(found(skewed.find))], ["Replay", "Replay"])
            yield* TestClock.adjust("1 millis")
            assert.deepStrictEqual([yield* found(right.find), yield* onHost(found(skewed.find))], ["None", "None"])
          }
        }))
    }

    for (const references of [["holder", "other"], ["other", "holder"]] as const) {
      it.effect(`extends a claim when another reference is extended concurrently (${references.join(", ")})`, () =>
        Effect.gen(function*() {
          const { gate, service: { claimAll, extend, find }, sets, started } = yield* gatedInstance
          const claim = { ...requestOf(`two references ${references.join()}`, implicit), reference: "holder" }
          yield* claimAll([claim])
          yield* TestClock.adjust("100 seconds")
          const first = yield* Effect.forkChild(
            extend({ ...requestOf("two references first", implicit), reference: "first" })
          )
          yield* Deferred.await(started)
          // All of them wait for the first set, so they are one set.
          const fibers = yield* Effect.forEach(
            [...references, ...references].map((reference) => ({ ...claim, reference })),
            (claim) => Effect.forkChild(extend(claim), { startImmediately: true })
          )
          yield* Deferred.succeed(gate, undefined)
          yield* Fiber.join(first)
          yield* Effect.forEach(fibers, Fiber.join)
          assert.deepStrictEqual(sets, [["first"], ...references.map((reference) => [reference])])
          yield* TestClock.adjust("119999 millis")
          assert.deepStrictEqual(yield* find(claim), Found.Replay({ reference: "holder" }))
          yield* TestClock.adjust("1 millis")
          assert.strictEqual((yield* find(claim))._tag, "None")
        }))
    }
  })

const implicit = IdempotencyKey.Implicit({ endpoint: "generations" })

const tags = Effect.map((outcomes: ReadonlyArray<Outcome>) => outcomes.map((outcome) => outcome._tag))

/** Creates another process on the same store. */
const instance = Effect.map(
  Layer.build(Layer.fresh(layerIdempotency)),
  (context) => Context.get(context, Idempotency)
)

/** Creates a process whose store waits for a gate before it extends, and records the references of its sets. */
const gatedInstance = Effect.gen(function*() {
  const store = yield* IdempotencyStore
  const sets: Array<ReadonlyArray<string>> = []
  const started = yield* Deferred.make<void>()
  const gate = yield* Deferred.make<void>()
  const context = yield* Layer.build(Layer.fresh(layerIdempotency)).pipe(
    Effect.provideService(IdempotencyStore, {
      ...store,
      extend: (arriving) => {
        sets.push(arriving.map(({ reference }) => reference))
        return Deferred.succeed(started, undefined).pipe(
          Effect.andThen(Deferred.await(gate)),
          Effect.andThen(store.extend(arriving))
        )
      }
    })
  )
  return { service: Context.get(context, Idempotency), sets, started, gate }
})
