import { assert, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { inspect } from "node:util"
import * as Accounts from "../src/Accounts.ts"
import { isKnown, makeKey } from "./Hosts.ts"

it.effect("creates keys that begin with kin_", () =>
  Effect.gen(function*() {
    const accounts = yield* Accounts.Accounts
    const { key } = yield* makeKey(accounts)
    assert.match(Redacted.value(key), /^kin_[0-9A-Za-z]{49}$/)
    assert.isTrue(yield* isKnown(accounts, key))
    assert.isFalse(yield* isKnown(accounts, Redacted.make(Redacted.value(key).replace("kin_", "kop_"))))
    assert.strictEqual(inspect(key), "<redacted:ApiKey>")
  }).pipe(Effect.provide(Accounts.layerMemory)))
