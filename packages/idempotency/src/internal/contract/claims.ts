/** Tests of claims. */
import { assert } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Data, Deferred, Effect, Fiber } from "effect"
import { Found, Outcome } from "../../Claim.ts"
import { Idempotency } from "../../Idempotency.ts"
import { IdempotencyKey } from "../../IdempotencyKey.ts"
import { fingerprintOf, requestOf } from "./requests.ts"
import type { Register } from "./tests.ts"

class Refused extends Data.TaggedError("Refused")<{}> {}

/** Registers tests of claims. */
export const claimTests = (test: Register): void => {
  test("claims one of a thousand identical requests, and replays it to the others", () =>
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

  test("finds nothing, then the reference, and refuses the key for another body", () =>
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

  test("does not match requests of different scopes", () =>
    Effect.gen(function*() {
      const { claimAll, find } = yield* Idempotency
      const request = requestOf("apart")
      yield* claimAll([{ ...request, reference: "first" }])
      assert.strictEqual((yield* find({ ...request, scope: `${request.scope}2` }))._tag, "None")
    }))

  test("returns to each of several concurrent look-ups its own result", () =>
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
}

/** Registers tests of units of work. */
export const unitTests = (test: Register): void => {
  for (const [fate, expected] of [["commits", "Replay"], ["rolls back", "Claimed"]] as const) {
    test(`waits for a unit that is claiming the same key, and is ${expected} if that unit ${fate}`, () =>
      Effect.gen(function*() {
        const { claimAll } = yield* Idempotency
        const { atomically } = yield* UnitOfWork
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

  test("frees the key when the unit of work rolls back", () =>
    Effect.gen(function*() {
      const { find, once } = yield* Idempotency
      const claim = { ...requestOf("rolled back"), reference: "first" }
      assert.instanceOf(yield* Effect.flip(once(claim, Effect.fail(new Refused()))), Refused)
      assert.strictEqual((yield* find(claim))._tag, "None")
      assert.strictEqual((yield* once(claim, Effect.void))._tag, "Done")
    }))

  test("once fails for a key with another body, without running the work", () =>
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
}

/** Registers tests of sets. */
export const setTests = (test: Register): void => {
  test("frees the keys of refused requests of a set, and keeps the others", () =>
    Effect.gen(function*() {
      const { claimAll, find, release } = yield* Idempotency
      const { atomically } = yield* UnitOfWork
      const kept = { ...requestOf("kept"), reference: "kept" }
      const refused = { ...requestOf("refused"), reference: "refused" }
      yield* Effect.andThen(claimAll([refused, kept]), release([refused])).pipe(atomically)
      assert.strictEqual((yield* find(refused))._tag, "None")
      assert.strictEqual((yield* find(kept))._tag, "Replay")
      assert.deepStrictEqual(yield* claimAll([refused]).pipe(tags), ["Claimed"])
    }))

  test("does not release what belongs to another reference", () =>
    Effect.gen(function*() {
      const { claimAll, find, release } = yield* Idempotency
      const request = requestOf("foreign")
      yield* claimAll([{ ...request, reference: "first" }])
      yield* release([{ ...request, reference: "second" }])
      assert.strictEqual((yield* find(request))._tag, "Replay")
    }))

  test("makes repetitions within a set followers of the first", () =>
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

  test("returns nothing for an empty set", () =>
    Effect.gen(function*() {
      const { claimAll, findAll, release } = yield* Idempotency
      assert.deepStrictEqual(yield* claimAll([]), [])
      assert.deepStrictEqual(yield* findAll([]), [])
      yield* release([])
    }))
}

/** Registers tests of requests with and without a key. */
export const keyTests = (test: Register): void => {
  test("never matches a request with a key and one without", () =>
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

  test("matches requests without a key by endpoint and body", () =>
    Effect.gen(function*() {
      const { claimAll, find } = yield* Idempotency
      const request = requestOf("implicit", IdempotencyKey.Implicit({ endpoint: "generations" }))
      yield* claimAll([{ ...request, reference: "first" }])
      assert.strictEqual((yield* find(request))._tag, "Replay")
      const elsewhere = { ...request, key: IdempotencyKey.Implicit({ endpoint: "images" }) }
      assert.strictEqual((yield* find(elsewhere))._tag, "None")
      assert.strictEqual((yield* find({ ...request, fingerprint: fingerprintOf("other") }))._tag, "None")
    }))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const tags = Effect.map((outcomes: ReadonlyArray<Outcome>) => outcomes.map((outcome) => outcome._tag))
