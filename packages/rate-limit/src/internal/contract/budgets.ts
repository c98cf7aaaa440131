/** Tests of amounts per day. */
import { assert } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { TestClock } from "effect/testing"
import { Budget, layer as layerBudget, type Reserved } from "../../Budget.ts"
import { processOf } from "./processes.ts"
import type { Register, Traits } from "./tests.ts"

/** Registers tests of reservations and settlements. */
export const budgetTests = (test: Register): void => {
  test("never exceeds the limit of the day, and reserves an amount in full or not at all", () =>
    Effect.gen(function*() {
      const processes = yield* Effect.forEach(Array.from({ length: 4 }), () => instance)
      const limit = 50 * gibibyte
      const amounts = Array.from({ length: 400 }, (_, index) => (1 + index % 7) * 100_000_000)
      const answers = yield* Effect.forEach(
        amounts,
        (amount, index) => processes[index % 4]!.reserve({ key: "exact", limit, amount }),
        { concurrency: "unbounded" }
      )
      const reserved = answers.reduce((total, answer) => total + amountOf(answer), 0)
      assert.isTrue(reserved <= limit && reserved > limit - 700_000_000)
      assert.strictEqual(yield* processes[0]!.used("exact"), reserved)
      assert.isTrue(answers.every((answer, index) => [0, amounts[index]].includes(amountOf(answer))))
    }))

  test("returns the unused part, and counts what was used beyond the reservation", () =>
    Effect.gen(function*() {
      const { reserve, settle, used } = yield* Budget
      const half = yield* granted(reserve({ key: "settled", limit: 100, amount: 60 }))
      assert.strictEqual(half.remaining, 40)
      assert.strictEqual((yield* reserve({ key: "settled", limit: 100, amount: 41 }))._tag, "Refused")
      yield* settle(half.reservation, 10)
      assert.strictEqual(yield* used("settled"), 10)
      const all = yield* granted(reserve({ key: "settled", limit: 100, amount: 90 }))
      assert.strictEqual(all.remaining, 0)
      yield* settle(all.reservation, 95)
      assert.strictEqual(yield* used("settled"), 105)
      const over = yield* reserve({ key: "settled", limit: 100, amount: 0 })
      assert.deepStrictEqual([over._tag, over.remaining], ["Refused", 0])
    }))

  test("loses no update when many reserve and settle at the same time", () =>
    Effect.gen(function*() {
      const processes = yield* Effect.forEach(Array.from({ length: 4 }), () => instance)
      yield* Effect.forEach(
        Array.from({ length: 400 }, (_, index) => index),
        Effect.fnUntraced(function*(index) {
          const { reserve, settle } = processes[index % 4]!
          const request = { key: `busy ${index % 3}`, limit: 1_000_000, amount: 100 }
          const { reservation } = yield* granted(reserve(request))
          yield* settle(reservation, index % 2)
        }),
        { concurrency: "unbounded", discard: true }
      )
      const used = yield* Effect.forEach([0, 1, 2], (key) => processes[0]!.used(`busy ${key}`))
      assert.strictEqual(used.reduce((total, used) => total + used, 0), 200)
    }))
}

/** Registers tests of days, sets and sweeps. */
export const dayTests = (test: Register, { sweeps }: Traits): void => {
  test("resets at 00:00 UTC, and settles in the day of the reservation", () =>
    Effect.gen(function*() {
      const { reserve, settle, used } = yield* Budget
      yield* TestClock.setTime(100 * day - 1)
      const request = { key: "midnight", limit: 10, amount: 10 }
      const { reservation, resetsAt } = yield* granted(reserve(request))
      assert.strictEqual(DateTime.toEpochMillis(resetsAt), 100 * day)
      assert.strictEqual((yield* reserve({ ...request, amount: 1 }))._tag, "Refused")
      yield* TestClock.adjust("1 millis")
      assert.strictEqual((yield* reserve(request))._tag, "Granted")
      yield* settle(reservation, 0)
      assert.strictEqual(yield* used("midnight"), 10)
    }))

  test("reserves several amounts in order, each by its own limit", () =>
    Effect.gen(function*() {
      const { reserveAll } = yield* Budget
      const answers = yield* reserveAll([
        { key: "set account", limit: 10, amount: 6 },
        { key: "set result", limit: 5, amount: 6 },
        { key: "set account", limit: 10, amount: 6 },
        { key: "set account", limit: 10, amount: 4 }
      ])
      assert.deepStrictEqual(
        answers.map((answer) => [answer._tag, answer.remaining]),
        [["Granted", 4], ["Refused", 5], ["Refused", 4], ["Granted", 0]]
      )
    }))

  if (sweeps) {
    test("deletes days before yesterday", () =>
      Effect.gen(function*() {
        const { reserve, sweep, used } = yield* Budget
        yield* TestClock.setTime(200 * day)
        while ((yield* sweep(1000)) > 0);
        yield* reserve({ key: "kept", limit: 1, amount: 1 })
        yield* TestClock.adjust("1 day")
        assert.strictEqual(yield* sweep(10), 0)
        yield* reserve({ key: "kept", limit: 1, amount: 1 })
        yield* TestClock.adjust("1 day")
        assert.strictEqual(yield* sweep(10), 1)
        yield* TestClock.setTime(201 * day)
        assert.strictEqual(yield* used("kept"), 1)
      }))
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Creates another process on the same store. */
const instance = processOf(Budget, layerBudget)

const gibibyte = 2 ** 30

const day = 86_400_000

const amountOf = (answer: Reserved) => answer._tag === "Granted" ? answer.reservation.amount : 0

const granted = <E>(reserve: Effect.Effect<Reserved, E>) =>
  Effect.flatMap(reserve, (answer) => answer._tag === "Granted" ? Effect.succeed(answer) : Effect.die("refused"))
