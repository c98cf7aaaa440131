import { assert, it } from "@effect/vitest"
import { Effect, Exit, Schema } from "effect"
import { DateTime, IdempotencyKey, Int64, Seconds } from "../src/Scalar.ts"

it.effect("encodes times in UTC with milliseconds and Z", () =>
  Effect.gen(function*() {
    const time = yield* Schema.decodeUnknownEffect(DateTime)("2026-11-21T03:00:00+01:00")
    assert.strictEqual(yield* Schema.encodeEffect(DateTime)(time), "2026-11-21T02:00:00.000Z")
  }))

it.effect("accepts integers within 2^53 - 1 only", () =>
  Effect.gen(function*() {
    const decode = Schema.decodeUnknownEffect(Int64)
    assert.strictEqual(yield* decode(2 ** 53 - 1), 2 ** 53 - 1)
    for (const wrong of [2 ** 53, 1.5, Number.NaN, "1"]) {
      assert.isTrue(Exit.isFailure(yield* Effect.exit(decode(wrong))), String(wrong))
    }
  }))

it.effect("accepts seconds as decimal digits of any length", () =>
  Effect.gen(function*() {
    const decode = Schema.decodeUnknownEffect(Seconds)
    assert.strictEqual(yield* decode("0"), 0)
    assert.strictEqual(yield* decode("060"), 60)
    assert.strictEqual(yield* decode("99999999999999999999"), 1e20)
    for (const wrong of ["", "-1", "1.5", "1e2", "+5", " 5", "0x10", "ten"]) {
      assert.isTrue(Exit.isFailure(yield* Effect.exit(decode(wrong))), wrong)
    }
  }))

it.effect("accepts idempotency keys of 1 to 255 printable ASCII characters", () =>
  Effect.sync(() => {
    const is = Schema.is(IdempotencyKey)
    assert.isTrue(is(" ") && is("~") && is("a".repeat(255)))
    assert.isFalse(is("") || is("a".repeat(256)) || is("é") || is("a\tb") || is("a\nb"))
  }))
