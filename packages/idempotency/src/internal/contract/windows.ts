/** Tests of how long claims hold. */
import { assert } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import { Found, type Outcome } from "../../Claim.ts"
import { Idempotency } from "../../Idempotency.ts"
import { IdempotencyKey } from "../../IdempotencyKey.ts"
import { fingerprintOf, requestOf } from "./requests.ts"
import type { Register } from "./tests.ts"

/** Registers tests of how long claims hold. */
export const windowTests = (test: Register): void => {
  for (
    const [kind, key, window, own] of [
      ["a key", IdempotencyKey.Explicit({ text: "window" }), Duration.hours(24)],
      ["no key", IdempotencyKey.Implicit({ endpoint: "window" }), Duration.seconds(120)],
      ["a window of its own", IdempotencyKey.Explicit({ text: "own" }), Duration.hours(30), { window: "30 hours" }]
    ] as const
  ) {
    test(`holds a request with ${kind} to the millisecond for ${Duration.format(window)}`, () =>
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

  test("claims an expired key for one of many requests", () =>
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

  test("restarts the window of a request without a key", () =>
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
}

/** Registers tests of extensions and sweeps. */
export const extensionTests = (test: Register): void => {
  test("does not shorten the window of a request without a key", () =>
    Effect.gen(function*() {
      const { claimAll, extend, find } = yield* Idempotency
      const claim = { ...requestOf("not shortened", implicit), reference: "first" }
      yield* claimAll([claim])
      yield* TestClock.adjust("50 seconds")
      yield* extend({ ...claim, window: "10 seconds" })
      yield* TestClock.adjust("69999 millis")
      assert.strictEqual((yield* find(claim))._tag, "Replay")
      yield* TestClock.adjust("1 millis")
      assert.strictEqual((yield* find(claim))._tag, "None")
    }))

  test("does not extend the claim of another reference, or the window of a key", () =>
    Effect.gen(function*() {
      const { claimAll, extend, find } = yield* Idempotency
      const old = { ...requestOf("taken over", implicit), reference: "old" }
      yield* claimAll([old])
      yield* TestClock.adjust("120 seconds")
      const next = { ...old, reference: "next" }
      yield* claimAll([next])
      yield* TestClock.adjust("60 seconds")
      yield* extend(old)
      assert.deepStrictEqual(yield* find(next), Found.Replay({ reference: "next" }))
      yield* TestClock.adjust("60 seconds")
      assert.strictEqual((yield* find(next))._tag, "None")

      const explicit = { ...requestOf("explicit extended"), reference: "first" }
      yield* claimAll([explicit])
      yield* TestClock.adjust("1 hour")
      yield* extend(explicit)
      yield* TestClock.adjust("23 hours")
      assert.strictEqual((yield* find(explicit))._tag, "None")
    }))

  test("sweeps up to the limit of expired claims, and no others", () =>
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
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const implicit = IdempotencyKey.Implicit({ endpoint: "generations" })

const tags = Effect.map((outcomes: ReadonlyArray<Outcome>) => outcomes.map((outcome) => outcome._tag))
