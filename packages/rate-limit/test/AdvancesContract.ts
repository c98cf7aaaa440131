import { assert, layer } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence"
import { StorageError } from "@kinora/persistence/StorageError"
import * as TestTime from "@kinora/testkit/TestTime"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Random, Scope } from "effect"
import { TestClock } from "effect/testing"
import { Budget, RateLimit, RateLimitStore } from "../src/index.ts"
import * as Process from "./Process.ts"
import { ofDatabases, type Traits } from "./Traits.ts"

const minute = 60_000
const day = 86_400_000

/** The behaviour of limits and budgets that take amounts in advance, on every backend. */
export const suite = <E>(
  name: string,
  backend: Layer.Layer<RateLimitStore.RateLimitStore | UnitOfWork.UnitOfWork, E>,
  { transactions }: Traits = ofDatabases
) =>
  layer(backend)(`Advances (${name})`, (it) => {
    it.effect("need a statement for few hits of a busy key", () =>
      Effect.gen(function*() {
        const { calls, hit } = yield* makeProcess
        for (let n = 1; n <= 2_000; n++) {
          const { accepted, remaining } = yield* hit({ key: "busy", limit: 1_000_000, mayWait: true })
          assert.deepStrictEqual([accepted, remaining], [true, 1_000_000 - n])
        }
        assert.isAtMost(calls.take, 15)
      }))

    it.effect("do not need more than one statement in the time of an advance at a steady rate", () =>
      Effect.gen(function*() {
        const { calls, hit } = yield* makeProcess
        const request = { key: "steady", limit: 1_000_000, mayWait: true }
        const second = Effect.forEach(
          Array.from({ length: 100 }),
          () => Effect.andThen(hit(request), TestTime.advance("10 millis")),
          { discard: true }
        )
        yield* Effect.forEach([1, 2, 3], () => second)
        const before = calls.take
        yield* Effect.forEach([1, 2, 3, 4, 5], () => second)
        assert.isAtMost(calls.take - before, 10)
      }))

    it.effect("are not taken when half of the limit is used, so the last hits are counted one by one", () =>
      Effect.gen(function*() {
        const busy = yield* makeProcess
        const other = yield* makeProcess
        const request = { key: "half", limit: 100, mayWait: true }
        for (let n = 0; n < 75; n++) yield* busy.hit(request)
        assert.strictEqual((yield* other.peek(request)).remaining, 25)
        const { take } = busy.calls
        for (let n = 0; n < 20; n++) yield* busy.hit(request)
        assert.strictEqual(busy.calls.take, take + 20)
        for (let n = 0; n < 5; n++) assert.isTrue((yield* other.hit(request)).accepted)
        for (const { hit } of [other, busy]) {
          assert.isFalse((yield* hit({ ...request, mayWait: false })).accepted)
        }
      }))

    it.effect("are given back when they expire", () =>
      Effect.gen(function*() {
        const busy = yield* makeProcess
        const other = yield* makeProcess
        const request = { key: "expired", limit: 1_000, mayWait: true }
        for (let n = 0; n < 100; n++) yield* busy.hit(request)
        assert.strictEqual((yield* busy.peek(request)).remaining, 900)
        assert.isBelow((yield* other.peek(request)).remaining, 900)
        yield* TestTime.advance("2 seconds")
        assert.strictEqual((yield* other.peek(request)).remaining, 900)
        assert.strictEqual((yield* busy.peek(request)).remaining, 900)
        yield* TestTime.advance("10 seconds")
        assert.strictEqual(busy.calls.add, 1)
      }))

    it.effect("end with a key that is forgotten, and are not given back", () =>
      Effect.gen(function*() {
        const busy = yield* makeProcess
        const other = yield* makeProcess
        const request = { key: "forgotten", limit: 1_000, mayWait: true }
        for (let n = 0; n < 100; n++) yield* busy.hit(request)
        assert.strictEqual(yield* busy.forget({ key: "forgotten" }), 1)
        assert.deepStrictEqual(
          [(yield* busy.peek(request)).remaining, (yield* other.peek(request)).remaining],
          [1_000, 1_000]
        )
        yield* busy.hit(request)
        yield* TestTime.advance("2 seconds")
        assert.strictEqual(busy.calls.add, 0)
        assert.strictEqual((yield* other.peek(request)).remaining, 999)
      }))

    it.effect("are not included in what their process returns as used, while they are given back too", () =>
      Effect.gen(function*() {
        const { beforeAdd, reserve, used } = yield* makeProcess
        const request = { key: "returning", limit: 100_000, amount: 10, advanceMax: 1_000 }
        for (let n = 0; n < 100; n++) yield* reserve(request)
        const started = yield* Deferred.make<void>()
        const gate = yield* Deferred.make<void>()
        beforeAdd.run = Effect.andThen(Deferred.succeed(started, undefined), Deferred.await(gate))
        yield* TestTime.advance("1 second")
        yield* Deferred.await(started)
        const reading = yield* Effect.forkChild(used(request.key), { startImmediately: true })
        yield* Deferred.succeed(gate, undefined)
        assert.strictEqual(yield* Fiber.join(reading), 1_000)
      }))

    it.effect("are not included in what their process returns as used, if they change during the read", () =>
      Effect.gen(function*() {
        const { beforeReadEnds, reserve, used } = yield* makeProcess
        const request = { key: "changing", limit: 100_000, amount: 10, advanceMax: 1_000 }
        for (let n = 0; n < 100; n++) yield* reserve(request)
        // The first read has its result when the rest is given back.
        beforeReadEnds.run = Effect.suspend(() => {
          beforeReadEnds.run = Effect.void
          return TestTime.advance("2 seconds")
        })
        assert.strictEqual(yield* used(request.key), 1_000)
      }))

    it.effect("are given back when the process stops", () =>
      Effect.gen(function*() {
        const scope = yield* Scope.make()
        const busy = yield* Scope.provide(makeProcess, scope)
        const other = yield* makeProcess
        const request = { key: "stopped", limit: 1_000, mayWait: true }
        for (let n = 0; n < 100; n++) yield* busy.hit(request)
        yield* Scope.close(scope, Exit.void)
        assert.strictEqual((yield* other.peek(request)).remaining, 900)
      }))

    it.effect("stay counted when giving them back fails, since the statement may have been executed", () =>
      Effect.gen(function*() {
        const busy = yield* makeProcess
        const other = yield* makeProcess
        const request = { key: "lost", limit: 1_000, mayWait: true }
        for (let n = 0; n < 100; n++) yield* busy.hit(request)
        busy.failing.add = true
        const { remaining } = yield* other.peek(request)
        yield* TestTime.advance("2 seconds")
        busy.failing.add = false
        yield* TestTime.advance("10 seconds")
        assert.strictEqual((yield* other.peek(request)).remaining, remaining)
        assert.strictEqual((yield* busy.hit(request)).remaining, remaining - 1)
      }))

    it.effect("end with their minute", () =>
      Effect.gen(function*() {
        const { calls, hit } = yield* makeProcess
        const request = { key: "minute end", limit: 1_000, mayWait: true }
        yield* TestClock.setTime(10 * minute + 59_990)
        for (let n = 0; n < 100; n++) yield* hit(request)
        yield* TestClock.adjust("10 millis")
        const { take } = calls
        const verdict = yield* hit(request)
        assert.strictEqual(verdict.resetsAt.epochMilliseconds, 12 * minute)
        assert.strictEqual(verdict.remaining, 1_000 - 1)
        assert.strictEqual(calls.take, take + 1)
      }))

    if (transactions) {
      it.effect("are not spent in a transaction, which may roll back", () =>
        Effect.gen(function*() {
          const { hit, peek, reserve, used } = yield* makeProcess
          const { atomically } = yield* UnitOfWork.UnitOfWork
          const request = { key: "rolled back", limit: 1_000, mayWait: true }
          const amount = { key: "rolled back", limit: 100_000, amount: 10, advanceMax: 1_000 }
          for (let n = 0; n < 100; n++) {
            yield* hit(request)
            yield* reserve(amount)
          }
          const undone = Effect.forEach(
            Array.from({ length: 10 }),
            () => Effect.andThen(hit(request), reserve(amount))
          ).pipe(Effect.andThen(Effect.die("rolled back")), atomically)
          yield* Effect.exit(undone)
          assert.strictEqual((yield* peek(request)).remaining, 900)
          assert.strictEqual(yield* used(amount.key), 1_000)
        }))
    }

    it.effect("are not spent by calls with a lower limit", () =>
      Effect.gen(function*() {
        const { hit } = yield* makeProcess
        for (let n = 0; n < 100; n++) yield* hit({ key: "lowered", limit: 1_000, mayWait: true })
        for (const _ of [1, 2]) assert.isFalse((yield* hit({ key: "lowered", limit: 100 })).accepted)
        assert.isTrue((yield* hit({ key: "lowered", limit: 1_000, mayWait: true })).accepted)
      }))

    it.effect("never exceed a limit, and grant all of it, over several processes", () =>
      Effect.forEach(
        Array.from({ length: 12 }, (_, seed) => seed),
        (seed) =>
          Effect.gen(function*() {
            const processes = yield* Effect.forEach([1, 2, 3], () => makeProcess)
            yield* TestClock.setTime((100 + seed) * minute)
            const request = { key: `random ${seed}`, limit: 300, mayWait: true }
            const { accepted, begin, end } = Process.makeTally(request)
            for (let step = 0; step < 20; step++) {
              const process = processes[yield* Random.nextIntBetween(0, 2, { halfOpen: false })]!
              yield* begin(process, yield* Random.nextIntBetween(1, 40), yield* Random.nextIntBetween(1, 8))
              yield* TestTime.advance(`${yield* Random.nextIntBetween(0, 700)} millis`)
              assert.isAtMost(accepted(), request.limit)
            }
            // All advances are given back, so the minute grants the rest.
            yield* TestTime.advance("3 seconds")
            for (const process of processes) yield* begin(process, request.limit)
            yield* TestTime.advance("3 seconds")
            yield* end
            assert.strictEqual(accepted(), request.limit)
          }).pipe(Effect.scoped, Random.withSeed(seed)),
        { discard: true }
      ))

    it.effect("of budgets are at most as large as the request allows, and never exceed the day", () =>
      Effect.gen(function*() {
        const busy = yield* makeProcess
        const other = yield* makeProcess
        yield* TestClock.setTime(100 * day)
        const request = { key: "bytes", limit: 10_000, amount: 7, advanceMax: 500 }
        for (let n = 1; n <= 400; n++) {
          const reserved = yield* busy.reserve(request)
          assert.deepStrictEqual([reserved._tag, reserved.remaining], ["Granted", 10_000 - 7 * n])
          assert.isAtMost((yield* other.used("bytes")) - 7 * n, 500)
        }
        assert.strictEqual(yield* busy.used("bytes"), 2_800)
        assert.isAtMost(busy.calls.take, 60)
        let used = 2_800
        while ((yield* other.reserve({ ...request, amount: 100 }))._tag === "Granted") used += 100
        assert.isAtMost(used, 10_000)
        yield* TestTime.advance("2 seconds")
        assert.strictEqual(yield* other.used("bytes"), used)
      }))

    it.effect("of budgets reject no request of another process that may wait until they are given back", () =>
      Effect.gen(function*() {
        const [busy, other] = [yield* makeProcess, yield* makeProcess]
        yield* TestClock.setTime(150 * day)
        const request = { key: "waiting", limit: 10_000, amount: 10, advanceMax: 4_000 }
        for (let n = 0; n < 200; n++) yield* busy.reserve(request)
        // The rest of the day fits only without the advance.
        const all = { key: "waiting", limit: 10_000, amount: 8_000 }
        assert.strictEqual((yield* other.reserve(all))._tag, "Refused")
        const waiting = yield* Effect.forkChild(other.reserve({ ...all, mayWait: true }))
        yield* TestTime.advance("2900 millis")
        assert.isUndefined(waiting.pollUnsafe())
        yield* TestTime.advance("100 millis")
        assert.strictEqual((yield* Fiber.join(waiting))._tag, "Granted")
        assert.strictEqual(yield* other.used("waiting"), 10_000)
      }))

    if (transactions) {
      it.effect("of budgets let a request wait once, and not in a transaction", () =>
        Effect.gen(function*() {
          const { calls, reserve } = yield* makeProcess
          const { atomically } = yield* UnitOfWork.UnitOfWork
          const request = { key: "full", limit: 10, amount: 11, mayWait: true }
          const waiting = yield* Effect.forkChild(reserve(request))
          yield* TestTime.advance("3 seconds")
          assert.strictEqual((yield* Fiber.join(waiting))._tag, "Refused")
          assert.strictEqual(calls.take, 2)
          assert.strictEqual((yield* atomically(reserve(request)))._tag, "Refused")
          assert.strictEqual(calls.take, 3)
        }))
    }

    it.effect("of budgets give back the rest of a call whose last part fails", () =>
      Effect.gen(function*() {
        const { failing, reserve, reserveAll, used } = yield* makeProcess
        const covered = { key: "covered", limit: 10_000, amount: 10, advanceMax: 4_000 }
        for (let n = 0; n < 20; n++) {
          yield* reserve(covered)
        }
        failing.take = true
        yield* Effect.flip(reserveAll([covered, { key: "uncovered", limit: 10, amount: 1 }]))
        assert.strictEqual(yield* used("covered"), 200)

        failing.take = false
        const fitting = { key: "fitting", limit: 10, amount: 1 }
        const large = { key: "large", limit: 10, amount: 11, mayWait: true }
        const waiting = yield* Effect.forkChild(Effect.flip(reserveAll([fitting, large])), { startImmediately: true })
        yield* TestTime.advance("1 second")
        assert.strictEqual(yield* used("fitting"), 1)
        failing.take = true
        yield* TestTime.advance("2 seconds")
        yield* Fiber.join(waiting)
        assert.strictEqual(yield* used("fitting"), 0)
      }))

    it.effect("of budgets end with their day", () =>
      Effect.gen(function*() {
        const { reserve, settle, used } = yield* makeProcess
        const request = { key: "midnight", limit: 1_000, amount: 1, advanceMax: 100 }
        yield* TestClock.setTime(200 * day - 10)
        for (let n = 0; n < 99; n++) {
          yield* reserve(request)
        }
        const last = yield* reserve(request)
        yield* TestClock.adjust("10 millis")
        assert.strictEqual((yield* reserve(request)).remaining, 999)
        if (last._tag === "Granted") {
          yield* settle(last.reservation, 0)
        }
        assert.strictEqual(yield* used("midnight"), 1)
      }))
  })

/** Creates another process on the store. Counts its calls of the store, which fail on demand. */
const makeProcess = Effect.gen(function*() {
  const store = yield* RateLimitStore.RateLimitStore
  const calls = { take: 0, add: 0 }
  const failing = { add: false, take: false }
  const beforeAdd = { run: Effect.void }
  const beforeReadEnds = { run: Effect.void }
  const failure = (call: "add" | "take") =>
    Effect.fail(
      new StorageError({ operation: `RateLimitStore.${call}`, reason: "unavailable", cause: new Error("Injected") })
    )
  const context = yield* Layer.build(
    Layer.fresh(
      Layer.merge(RateLimit.layerWith({ advance: "1 second" }), Budget.layerWith({ advance: "1 second" }))
    )
  ).pipe(Effect.provideService(RateLimitStore.RateLimitStore, {
    ...store,
    take: (kind, demands) =>
      Effect.suspend(() => {
        calls.take++
        return failing.take ? failure("take") : store.take(kind, demands)
      }),
    add: (kind, amounts) =>
      Effect.suspend(() => {
        calls.add++
        return failing.add ? failure("add") : Effect.andThen(beforeAdd.run, store.add(kind, amounts))
      }),
    read: (kind, keys) => Effect.tap(store.read(kind, keys), () => beforeReadEnds.run)
  }))
  const { forget, hit, peek } = Context.get(context, RateLimit.RateLimit)
  const { reserve, reserveAll, settle, used } = Context.get(context, Budget.Budget)
  return { beforeAdd, beforeReadEnds, calls, failing, forget, hit, peek, reserve, reserveAll, settle, used }
})
