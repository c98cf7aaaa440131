/** Tests of stored responses. */
import { assert } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Cause, Data, Duration, Effect, Exit } from "effect"
import { TestClock } from "effect/testing"
import { Idempotency } from "../../Idempotency.ts"
import { IdempotencyStore } from "../../IdempotencyStore.ts"
import { Begun, Responses } from "../../Responses.ts"
import { fingerprintOf, requestOf } from "./requests.ts"
import { again, completeRunning, first, inProcess, plain, request, response } from "./runningRequests.ts"
import type { Register } from "./tests.ts"

class Refused extends Data.TaggedError("Refused")<{}> {}

/** Registers tests of leases and windows. */
export const responseTests = (test: Register): void => {
  test("keeps a response for its window, and a marker of one that is too large", () =>
    Effect.gen(function*() {
      const { begin, complete, release } = yield* Responses
      const running = yield* first("window")
      yield* complete(running, { status: 200, headers: [], body: undefined }, { window: "1 hour" })
      // Neither frees or replaces it.
      yield* release(running)
      yield* complete(running, response)
      yield* TestClock.adjust("59 minutes")
      const begun = yield* begin(request("window"))
      assert.deepStrictEqual(begun, Begun.Replay({ response: { status: 200, headers: [], body: undefined } }))
      yield* TestClock.adjust("1 minute")
      // The next request has a response of its own.
      yield* Effect.flatMap(first("window"), completeRunning)
      assert.deepStrictEqual(plain([yield* begin(request("window"))]), [Begun.Replay({ response })])
    }))

  test("runs a request of a dead process again after its lease, and fences the first run", () =>
    Effect.gen(function*() {
      const running = yield* inProcess(first("dead"))
      yield* TestClock.adjust("29 seconds")
      assert.strictEqual(yield* again("dead"), "InProgress")
      yield* TestClock.adjust("1 second")
      const next = yield* first("dead")
      // The first process was only slow. It neither stores its response nor frees the key.
      assert.strictEqual((yield* Effect.flip(completeRunning(running)))._tag, "LeaseLost")
      yield* Responses.use(({ release }) => release(running))
      assert.strictEqual(yield* again("dead"), "InProgress")
      yield* completeRunning(next)
      assert.strictEqual((yield* Effect.flip(completeRunning(running)))._tag, "LeaseLost")
    }))

  test("stores a response after the lease, if no repetition has begun", () =>
    Effect.gen(function*() {
      const running = yield* inProcess(first("late"), { lease: "5 seconds" })
      yield* TestClock.adjust("10 seconds")
      yield* completeRunning(running)
      assert.strictEqual(yield* again("late"), "Replay")
    }))

  test("renews a claim of the same reference from now", () =>
    Effect.gen(function*() {
      const { claim, find, renew } = yield* IdempotencyStore
      const { atomically } = yield* UnitOfWork
      const own = { scope: "renewed", identity: "res:key", reference: "run-1", fingerprint: fingerprintOf("a") }
      const arriving = { ...own, window: Duration.seconds(30) }
      assert.deepStrictEqual(yield* atomically(claim([arriving])), [])
      yield* TestClock.adjust("20 seconds")
      yield* renew([{ ...arriving, reference: "run-2", window: Duration.hours(1) }])
      yield* renew([arriving])
      yield* TestClock.adjust("29999 millis")
      assert.deepStrictEqual((yield* find([own])).map(({ reference }) => reference), ["run-1"])
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(yield* find([own]), [])
    }))
}

/** Registers tests of responses that are stored. */
export const keptResponseTests = (test: Register): void => {
  test("distinguishes a response with an empty body from one without", () =>
    Effect.gen(function*() {
      const { begin, complete } = yield* Responses
      const bodies = [new Uint8Array(), undefined]
      for (const [index, body] of bodies.entries()) {
        yield* complete(yield* first(`body ${index}`), { status: 200, headers: [], body })
        assert.deepStrictEqual(plain([yield* begin(request(`body ${index}`))]), [
          Begun.Replay({ response: { status: 200, headers: [], body } })
        ])
      }
    }))

  test("does not renew a claim that has a response", () =>
    Effect.gen(function*() {
      const { claim, complete, find, renew } = yield* IdempotencyStore
      const { atomically } = yield* UnitOfWork
      const own = { scope: "kept", identity: "res:key", reference: "run-1", fingerprint: fingerprintOf("a") }
      const found = Effect.map(find([own]), (held) => held.map(({ response }) => response?.status))
      yield* atomically(claim([{ ...own, window: Duration.seconds(30) }]))
      assert.isTrue(yield* complete({ ...own, response, window: Duration.hours(1) }))
      yield* renew([{ ...own, window: Duration.seconds(1) }])
      yield* TestClock.adjust("30 minutes")
      assert.deepStrictEqual(yield* found, [201])
      yield* renew([{ ...own, window: Duration.hours(1) }])
      assert.deepStrictEqual(yield* found, [201])
      yield* TestClock.adjust("30 minutes")
      assert.deepStrictEqual(yield* found, [])
    }))
}

/** Registers tests of units of work. */
export const responseUnitTests = (test: Register): void => {
  test("commits a response with the work of its unit, or neither", () =>
    Effect.gen(function*() {
      const { claimAll, find } = yield* Idempotency
      const { atomically } = yield* UnitOfWork
      const work = requestOf("with work")
      const running = yield* first("unit")
      const unit = claimAll([{ ...work, reference: "order-1" }]).pipe(Effect.andThen(completeRunning(running)))
      const undone = yield* Effect.exit(atomically(Effect.andThen(unit, Effect.fail(new Refused()))))
      assert.isTrue(Exit.isFailure(undone) && Cause.hasFails(undone.cause))
      assert.strictEqual((yield* find(work))._tag, "None")
      assert.strictEqual(yield* again("unit"), "InProgress")
      yield* atomically(unit)
      assert.strictEqual((yield* find(work))._tag, "Replay")
      assert.strictEqual(yield* again("unit"), "Replay")
      // A process that has lost its lease commits no work.
      const dead = yield* inProcess(first("lost unit"))
      yield* TestClock.adjust("30 seconds")
      yield* first("lost unit")
      const late = { ...work, scope: "late work" }
      const lost = claimAll([{ ...late, reference: "order-2" }]).pipe(Effect.andThen(completeRunning(dead)))
      assert.strictEqual((yield* Effect.flip(atomically(lost)))._tag, "LeaseLost")
      assert.strictEqual((yield* find(late))._tag, "None")
    }))
}
