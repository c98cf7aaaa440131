import { assert, it } from "@effect/vitest"
import { Cause, Effect, Exit, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { inspect } from "node:util"
import * as ApiKeys from "../src/ApiKeys.ts"
import * as Token from "../src/internal/token.ts"
import * as Backend from "./Backend.ts"
import * as KeysContract from "./KeysContract.ts"
import * as VerificationContract from "./VerificationContract.ts"

KeysContract.suite("memory", Backend.memory)
VerificationContract.suite("memory", Backend.memory)

it.effect("creates keys that begin with the prefix, and are redacted", () =>
  Effect.gen(function*() {
    const token = Token.define("acme-live_")
    const key = yield* token.make
    assert.match(Redacted.value(key), /^acme-live_[0-9A-Za-z]{49}$/)
    assert.isTrue(token.isWellFormed(Redacted.value(key)))
    assert.isFalse(token.isWellFormed(Redacted.value(key).replace("live", "test")))
    assert.strictEqual(token.prefix(key), Redacted.value(key).slice(0, 18))
    assert.strictEqual(inspect(key), "<redacted:ApiKey>")
  }).pipe(Effect.provide(SecureRandom.layerWebCrypto)))

it.effect("refuses prefixes that keys cannot begin with", () =>
  Effect.gen(function*() {
    for (const prefix of ["", "a b", "ключ", "a".repeat(33)]) {
      const exit = yield* Effect.exit(Effect.scoped(ApiKeys.make({ prefix })))
      assert.isTrue(Exit.isFailure(exit) && Cause.squash(exit.cause) instanceof TypeError, prefix)
    }
  }).pipe(Effect.provide([Backend.memory, SecureRandom.layerWebCrypto])))
