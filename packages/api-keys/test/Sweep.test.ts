import { assert, it } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as ApiKeys from "../src/ApiKeys.ts"
import { makeKey } from "../src/internal/contract/hosts.ts"

/** Returns the number of keys that are listed 90 days and two hours after one was revoked. */
const listedAfter = Effect.fnUntraced(function*(options: ApiKeys.ApiKeysSweepOptions) {
  const keys = yield* ApiKeys.ApiKeys
  const { owner, record } = yield* makeKey(keys)
  yield* keys.revoke(owner, record.id)
  yield* Layer.build(ApiKeys.layerSweep(options))
  yield* TestClock.adjust("90 days")
  assert.strictEqual((yield* keys.list(owner)).length, 1)
  yield* TestClock.adjust("2 hours")
  return (yield* keys.list(owner)).length
})

it.effect("layerSweep deletes keys 90 days after they were revoked", () =>
  Effect.gen(function*() {
    assert.strictEqual(yield* listedAfter({}), 0)
  }).pipe(Effect.scoped, Effect.provide(ApiKeys.layerMemory)))

it.effect("layerSweep deletes nothing if ended keys are kept forever", () =>
  Effect.gen(function*() {
    assert.strictEqual(yield* listedAfter({ endedKept: Duration.infinity }), 1)
  }).pipe(Effect.scoped, Effect.provide(ApiKeys.layerMemory)))
