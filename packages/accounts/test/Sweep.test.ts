import { assert, it } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as Accounts from "../src/Accounts.ts"
import { makeKey } from "./Hosts.ts"

/** Returns the number of keys that are listed 90 days and two hours after one was revoked. */
const listedAfter = Effect.fnUntraced(function*(options: Accounts.AccountsSweepOptions) {
  const accounts = yield* Accounts.Accounts
  const { account, record } = yield* makeKey(accounts)
  yield* accounts.revokeKey(account.id, record.id)
  yield* Layer.build(Accounts.layerSweep(options))
  yield* TestClock.adjust("90 days")
  assert.strictEqual((yield* accounts.listKeys(account.id)).length, 1)
  yield* TestClock.adjust("2 hours")
  return (yield* accounts.listKeys(account.id)).length
})

it.effect("layerSweep deletes keys 90 days after they were revoked", () =>
  Effect.gen(function*() {
    assert.strictEqual(yield* listedAfter({}), 0)
  }).pipe(Effect.scoped, Effect.provide(Accounts.layerMemory)))

it.effect("layerSweep deletes nothing if revoked keys are kept forever", () =>
  Effect.gen(function*() {
    assert.strictEqual(yield* listedAfter({ revokedKeysKept: Duration.infinity }), 1)
  }).pipe(Effect.scoped, Effect.provide(Accounts.layerMemory)))
