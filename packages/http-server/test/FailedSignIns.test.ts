import { assert, it } from "@effect/vitest"
import { AuditLog } from "@kinora/operators"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as AuditActions from "../src/AuditActions.ts"
import * as Browsers from "./Browsers.ts"
import { errorOf } from "./Envelope.ts"
import * as Host from "./Host.ts"

const { samePage, session } = Browsers

/** The failed sign-ins in the audit log, the first one first. */
const recorded = Effect.gen(function*() {
  const { list } = yield* AuditLog.AuditLog
  const entries = yield* list({ action: AuditActions.failedSignIn, limit: 100 })
  return entries.map(({ address, after }) => ({ address, after })).toReversed()
})

it.effect("records the first failed sign-in of an address with each reason in an hour, and the one that reaches the limit", () =>
  Effect.gen(function*() {
    const send = yield* Host.start({ failedAuthenticationsPerMinute: 6 })
    const attempt = (body: object, from: string) => send("POST", session, { headers: samePage, body, from })
    const code = { code: "f".repeat(64) }
    const [one, other] = ["203.0.113.1", "203.0.113.2"]
    const invalidCode = { reason: "invalid_code", by: "link" }
    const unauthorized = { reason: "unauthorized", by: "key" }
    for (let minute = 0; minute < 3; minute++) {
      // A wrong key of a program does not hide the first failed sign-in.
      errorOf(yield* send("GET", "/v1/models", { key: "kin_wrong", from: one }), "unauthorized")
      for (let index = 0; index < 3; index++) {
        errorOf(yield* attempt(code, one), "invalid_code")
        yield* TestClock.adjust("10 millis")
      }
      errorOf(yield* attempt({ api_key: "kin_wrong" }, one), "unauthorized")
      yield* TestClock.adjust("10 millis")
      errorOf(yield* attempt(code, one), "invalid_code")
      for (let index = 0; index < 3; index++) errorOf(yield* attempt(code, one), "rate_limited")
      yield* TestClock.adjust("1 minute")
    }
    const ofOne = [
      { address: one, after: invalidCode },
      { address: one, after: unauthorized },
      { address: one, after: { ...invalidCode, limit_reached: true } }
    ]
    assert.deepStrictEqual(yield* recorded, ofOne)
    errorOf(yield* attempt(code, other), "invalid_code")
    yield* TestClock.adjust("1 hour")
    errorOf(yield* attempt(code, one), "invalid_code")
    assert.deepStrictEqual(yield* recorded, [
      ...ofOne,
      { address: other, after: invalidCode },
      { address: one, after: invalidCode }
    ])
  }).pipe(Effect.provide(Host.layer)))
