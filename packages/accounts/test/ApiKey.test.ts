import { assert, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { inspect } from "node:util"
import * as ApiKey from "../src/ApiKey.ts"

it.effect("creates keys that begin with kin_", () =>
  Effect.gen(function*() {
    const key = yield* ApiKey.make
    assert.match(Redacted.value(key), /^kin_[0-9A-Za-z]{49}$/)
    assert.isTrue(ApiKey.isWellFormed(Redacted.value(key)))
    assert.isFalse(ApiKey.isWellFormed(Redacted.value(key).replace("kin_", "kop_")))
    assert.strictEqual(inspect(key), "<redacted:ApiKey>")
  }).pipe(Effect.provide(SecureRandom.layerWebCrypto)))
