import { assert, layer } from "@effect/vitest"
import { DatabaseTime, UnitOfWork } from "@kinora/persistence"
import { SkewedClock } from "@kinora/testkit"
import { Context, Data, Deferred, Duration, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Found, Outcome } from "../src/Claim.ts"
import { Idempotency, layer as layerIdempotency } from "../src/Idempotency.ts"
import { IdempotencyKey } from "../src/IdempotencyKey.ts"
import { IdempotencyStore } from "../src/IdempotencyStore.ts"
import { fingerprintOf, requestOf } from "./requests.ts"

class Refused extends Data.TaggedError("Refused")<{}> {}

/** The guarantees of `Idempotency` on every backend. */
export const suite = <E>(name: string, backend: Layer.Layer<IdempotencyStore | UnitOfWork.UnitOfWork, E>) =>
  layer(layerIdempotency.pipe(Layer.provideMerge(backend)))(`Idempotency (${name})`, (it) => {
    it.effect("claims one of a thousand identical requests, and replays it to the others", () =>
      Effect.gen(function*() {
        const { once } = yield* Idempotency
        const request = requestOf("thousand")
        const outcomes = yield* Effect.forEach(
          Array.from({ length: 1000 }, (_, index) => `job-${index}`),
          (reference) => once({ ...request, reference }, Effect.succeed(reference)),
          { concurrency: "unbounded" }
        )
        const done = outcomes.filter((outcome) => outcome._tag === "Done")
        assert.strictEqual(done.length, 1)
        const first = done[0]!.value
        assert.isTrue(outcomes.every((outcome) => outcome._tag === "Done" || outcome.reference === first))
      }))

    it.effect("finds nothing, then the reference, and refuses the key for another body", () =>
      Effect.gen(function*() {
        const { claimAll, find } = yield* Idempotency
        const request = requestOf("found")
        const other = { ...request, fingerprint: fingerprintOf("b") }
        assert.strictEqual((yield* find(request))._tag, "None")
        assert.deepStrictEqual(yield* claimAll([{ ...request, reference: "first" }]).pipe(tags), ["Claimed"])
        assert.deepStrictEqual(yield* find(request), Found.Replay({ reference: "first" }))
        assert.strictEqual((yield* find(other))._tag, "Reused")
        const outcomes = yield* claimAll([{ ...request, reference: "second" }])
        assert.deepStrictEqual(outcomes, [Outcome.Replay({ reference: "first" })])
        assert.deepStrictEqual(yield* claimAll([{ ...other, reference: "third" }]).pipe(tags), ["Reused"])
      }))

    it.effect("does not match requests of different scopes", () =>
      Effect.gen(function*() {
        const { claimAll, find } = yield* Idempotency
        const request = requestOf("apart")
        yield* claimAll([{ ...request, reference: "first" }])
        assert.strictEqual((yield* find({ ...request, scope: `${request.scope}2` }))._tag, "None")
      }))

    it.effect("returns to each of several concurrent look-ups its own result", () =>
      Effect.gen(function*() {
        const { claimAll, find } = yield* Idempotency
        const requests = Array.from({ length: 50 }, (_, index) => requestOf(`look-up-${index}`))
        yield* claimAll(
          requests.flatMap((request, index) => index % 2 === 0 ? [{ ...request, reference: `job-${index}` }] : [])
        )
        const found = yield* Effect.forEach(requests, find, { concurrency: "unbounded" })
        assert.deepStrictEqual(
          found.map((found) => found._tag === "Replay" ? found.reference : found._tag),
          requests.map((_, index) => index % 2 === 0 ? `job-${index}` : "None")
        )
      }))

    for (const [fate, expected] of [["commits", "Replay"], ["rolls back", "Claimed"]] as const) {
      it.effect(`waits for a unit that is claiming the same key, and is ${expected} if that unit ${fate}`, () =>
        Effect.gen(function*() {
          const { claimAll } = yield* Idempotency
          const { atomically } = yield* UnitOfWork.UnitOfWork
          const request = requestOf(`waits ${fate}`)
          const claimed = yield* Deferred.make<void>()
          const mayEnd = yield* Deferred.make<void>()
          const first = claimAll([{ ...request, reference: "first" }]).pipe(
            Effect.andThen(Deferred.succeed(claimed, undefined)),
            Effect.andThen(Deferred.await(mayEnd)),
            Effect.andThen(fate === "commits" ? Effect.void : Effect.fail(new Refused())),
            atomically,
            Effect.exit
          )
          const firstFiber = yield* Effect.forkChild(first)
          yield* Deferred.await(claimed)
          const second = yield* Effect.forkChild(claimAll([{ ...request, reference: "second" }]), {
            startImmediately: true
          })
          yield* Deferred.succeed(mayEnd, undefined)
          yield* Fiber.join(firstFiber)
          assert.deepStrictEqual(yield* Fiber.join(second).pipe(tags), [expected])
        }))
    }

    it.effect("frees the key when the unit of work rolls back", () =>
      Effect.gen(function*() {
        const { find, once } = yield* Idempotency
        const claim = { ...requestOf("rolled back"), reference: "first" }
        assert.instanceOf(yield* Effect.flip(once(claim, Effect.fail(new Refused()))), Refused)
        assert.strictEqual((yield* find(claim))._tag, "None")
        assert.strictEqual((yield* once(claim, Effect.void))._tag, "Done")
      }))

    it.effect("once fails for a key with another body, without running the work", () =>
      Effect.gen(function*() {
        const { once } = yield* Idempotency
        const claim = { ...requestOf("once reused"), reference: "first" }
        yield* once(claim, Effect.void)
        let worked = false
        const error = yield* Effect.flip(
          once({ ...claim, fingerprint: fingerprintOf("b") }, Effect.sync(() => worked = true))
        )
        assert.isTrue(error._tag === "IdempotencyError" && error.reason._tag === "KeyReused")
        assert.isFalse(worked)
      }))

    it.effect("frees the keys of refused requests of a set, and keeps the others", () =>
      Effect.gen(function*() {
        const { claimAll, find, release } = yield* Idempotency
        const { atomically } = yield* UnitOfWork.UnitOfWork
        const kept = { ...requestOf("kept"), reference: "kept" }
        const refused = { ...requestOf("refused"), reference: "refused" }
        yield* Effect.andThen(claimAll([refused, kept]), release([refused])).pipe(atomically)
        assert.strictEqual((yield* find(refused))._tag, "None")
        assert.strictEqual((yield* find(kept))._tag, "Replay")
        assert.deepStrictEqual(yield* claimAll([refused]).pipe(tags), ["Claimed"])
      }))

    it.effect("does not release what belongs to another reference", () =>
      Effect.gen(function*() {
        const { claimAll, find, release } = yield* Idempotency
        const request = requestOf("foreign")
        yield* claimAll([{ ...request, reference: "first" }])
        yield* release([{ ...request, reference: "second" }])
        assert.strictEqual((yield* find(request))._tag, "Replay")
      }))

    it.effect("makes repetitions within a set followers of the first", () =>
      Effect.gen(function*() {
        const { claimAll } = yield* Idempotency
        const a = requestOf("set a")
        const b = requestOf("set b")
        const replayed = requestOf("set replayed")
        yield* claimAll([{ ...replayed, reference: "earlier" }])
        const outcomes = yield* claimAll([
          { ...b, reference: "1" },
          { ...replayed, reference: "2" },
          { ...a, reference: "3" },
          { ...b, reference: "4" },
          { ...replayed, reference: "5" },
          { ...a, fingerprint: fingerprintOf("other"), reference: "6" },
          { ...a, reference: "7" }
        ])
        assert.deepStrictEqual(outcomes, [
          Outcome.Claimed(),
          Outcome.Replay({ reference: "earlier" }),
          Outcome.Claimed(),
          Outcome.Follower({ leader: 0 }),
          Outcome.Replay({ reference: "earlier" }),
          Outcome.Reused(),
          Outcome.Follower({ leader: 2 })
        ])
      }))

    it.effect("never matches a request with a key and one without", () =>
      Effect.gen(function*() {
        const { claimAll, find } = yield* Idempotency
        const explicit = requestOf("kinds")
        const implicit = { ...explicit, key: IdempotencyKey.Implicit({ endpoint: "kinds" }) }
        yield* claimAll([{ ...explicit, reference: "explicit" }])
        assert.strictEqual((yield* find(implicit))._tag, "None")
        // A key that looks like the stored identity of an implicit claim.
        const lookalike = {
          ...explicit,
          key: IdempotencyKey.Explicit({ text: `body:${explicit.fingerprint}:kinds` })
        }
        yield* claimAll([{ ...implicit, reference: "implicit" }])
        assert.strictEqual((yield* find(lookalike))._tag, "None")
      }))

    it.effect("matches requests without a key by endpoint and body", () =>
      Effect.gen(function*() {
        const { claimAll, find } = yield* Idempotency
        const request = requestOf("implicit", IdempotencyKey.Implicit({ endpoint: "generations" }))
        yield* claimAll([{ ...request, reference: "first" }])
        assert.strictEqual((yield* find(request))._tag, "Replay")
        const elsewhere = { ...request, key: IdempotencyKey.Implicit({ endpoint: "images" }) }
        assert.strictEqual((yield* find(elsewhere))._tag, "None")
        assert.strictEqual((yield* find({ ...request, fingerprint: fingerprintOf("other") }))._tag, "None")
      }))

    for (
      const [kind, key, window, own] of [
        ["a key", IdempotencyKey.Explicit({ text: "window" }), Duration.hours(24)],
        ["no key", IdempotencyKey.Implicit({ endpoint: "window" }), Duration.seconds(120)],
        ["a window of its own", IdempotencyKey.Explicit({ text: "own" }), Duration.hours(30), { window: "30 hours" }]
      ] as const
    ) {
      it.effect(`holds a request with ${kind} to the millisecond for ${Duration.format(window)}`, () =>
        Effect.gen(function*() {
          const { claimAll, find } = yield* Idempotency
          const claim = { ...requestOf(`window ${kind}`, key), ...own, reference: "first" }
          yield* claimAll([claim])
          yield* TestClock.adjust(Duration.subtract(window, Duration.millis(1)))
          const last = { ...claim, reference: "second" }
          assert.strictEqual((yield* find(last))._tag, "Replay")
          // A replay does not restart the window.
          assert.deepStrictEqual(yield* claimAll([last]).pipe(tags), ["Replay"])
          yield* TestClock.adjust("1 millis")
          const later = { ...claim, reference: "third" }
          assert.strictEqual((yield* find(later))._tag, "None")
          assert.deepStrictEqual(yield* claimAll([later]).pipe(tags), ["Claimed"])
          assert.deepStrictEqual(yield* find(later), Found.Replay({ reference: "third" }))
        }))
    }

    it.effect("claims an expired key for one of many requests", () =>
      Effect.gen(function*() {
        const { claimAll, once } = yield* Idempotency
        yield* claimAll([{ ...requestOf("take over", implicit), reference: "over" }])
        yield* TestClock.adjust("120 seconds")
        const request = requestOf("take over", implicit)
        const outcomes = yield* Effect.forEach(
          Array.from({ length: 100 }, (_, index) => `job-${index}`),
          (reference) => once({ ...request, reference }, Effect.succeed(reference)),
          { concurrency: "unbounded" }
        )
        const done = outcomes.filter((outcome) => outcome._tag === "Done")
        assert.strictEqual(done.length, 1)
        assert.isTrue(outcomes.every((outcome) => outcome._tag === "Done" || outcome.reference === done[0]!.value))
      }))

    it.effect("restarts the window of a request without a key", () =>
      Effect.gen(function*() {
        const { claimAll, extend, find } = yield* Idempotency
        const claim = { ...requestOf("extended", implicit), reference: "first" }
        yield* claimAll([claim])
        yield* TestClock.adjust("50 seconds")
        yield* extend(claim)
        yield* TestClock.adjust("119999 millis")
        assert.strictEqual((yield* find(claim))._tag, "Replay")
        yield* TestClock.adjust("1 millis")
        assert.strictEqual((yield* find(claim))._tag, "None")
        yield* extend(claim)
        assert.strictEqual((yield* find(claim))._tag, "Replay")
      }))

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

    it.effect("does not extend the claim of another reference, or the window of a key", () =>
      Effect.gen(function*() {
        const { claimAll, extend, find } = yield* Idempotency
        const old = { ...requestOf("taken over", implicit), reference: "old" }
        yield* claimAll([old])
        yield* TestClock.adjust("120 seconds")
        const next = { ...old, reference: "next" }
        yield* claimAll([next])
        yield* extend(old)
        assert.deepStrictEqual(yield* find(next), Found.Replay({ reference: "next" }))

        const explicit = { ...requestOf("explicit extended"), reference: "first" }
        yield* claimAll([explicit])
        yield* TestClock.adjust("1 hour")
        yield* extend(explicit)
        yield* TestClock.adjust("23 hours")
        assert.strictEqual((yield* find(explicit))._tag, "None")
      }))

    it.effect("sweeps up to the limit of expired claims, and no others", () =>
      Effect.gen(function*() {
        const { claimAll, find, sweep } = yield* Idempotency
        yield* TestClock.adjust("25 hours")
        while ((yield* sweep(1000)) > 0);
        const over = ["1", "2", "3"].map((text) => requestOf(`over ${text}`, implicit))
        const live = { ...requestOf("live"), reference: "live" }
        for (const [index, request] of over.entries()) {
          yield* claimAll([{ ...request, fingerprint: fingerprintOf(String(index)), reference: "over" }])
        }
        yield* claimAll([live])
        assert.strictEqual(yield* sweep(10), 0)
        yield* TestClock.adjust("120 seconds")
        assert.strictEqual(yield* sweep(2), 2)
        assert.strictEqual(yield* sweep(2), 1)
        assert.strictEqual((yield* find(live))._tag, "Replay")
      }))

    it.effect("returns nothing for an empty set", () =>
      Effect.gen(function*() {
        const { claimAll, findAll, release } = yield* Idempotency
        assert.deepStrictEqual(yield* claimAll([]), [])
        assert.deepStrictEqual(yield* findAll([]), [])
        yield* release([])
      }))
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
