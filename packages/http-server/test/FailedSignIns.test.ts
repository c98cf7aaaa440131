import { assert, it } from "@effect/vitest"
import { AuditLog } from "@kinora/operators"
import { Sessions } from "@kinora/sessions"
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

it.effect("counts cookies that are not of a session, and rejects them without a look-up beyond the limit of the address", () =>
  Effect.gen(function*() {
    const send = yield* Host.start({ failedAuthenticationsPerMinute: 4 })
    const { account } = yield* Host.openAccount()
    const member = { scope: "account", account: account.id, role: "member", member: null } as const
    const { page } = yield* Browsers.signInAs(send, member)
    let random = 0
    const guess = (method: string, from: string) =>
      Browsers.pageOf(send, String(++random).padStart(64, "0"))(method, session, { from })
    const [one, other] = ["203.0.113.1", "203.0.113.2"]
    // A page without a cookie counts nothing.
    for (let index = 0; index < 6; index++) assert.isNull((yield* send("GET", session, { from: one })).json)
    assert.isNull((yield* guess("GET", one)).json)
    assert.strictEqual((yield* guess("DELETE", one)).status, 204)
    assert.isNull((yield* guess("GET", one)).json)
    assert.strictEqual((yield* guess("DELETE", one)).status, 204)
    errorOf(yield* guess("GET", one), "rate_limited")
    errorOf(yield* guess("DELETE", one), "rate_limited")
    errorOf(yield* send("GET", "/v1/models", { key: "kin_wrong", from: one }), "rate_limited")
    assert.isNull((yield* guess("GET", other)).json)

    // Sessions at the address still work, also those that start now, and end.
    assert.isNotNull((yield* page("GET", session, { from: one })).json)
    const code = yield* Browsers.codeOf(member)
    const signedIn = yield* send("POST", session, { headers: samePage, body: { code }, from: one })
    const late = Browsers.pageOf(send, Browsers.cookieOf(signedIn))
    assert.isNotNull((yield* late("GET", session, { from: one })).json)
    assert.strictEqual((yield* late("DELETE", session, { from: one })).status, 204)
    errorOf(yield* late("GET", session, { from: one }), "rate_limited")
    yield* TestClock.adjust("1 minute")
    assert.isNull((yield* late("GET", session, { from: one })).json)
  }).pipe(Effect.provide(Host.layer)))

it.effect("looks up no session of a cookie beyond the limit of the address", () =>
  Effect.gen(function*() {
    const sessions = yield* Sessions.Sessions
    let lookUps = 0
    const counting = Sessions.Sessions.of({
      ...sessions,
      peek: (token) => Effect.andThen(Effect.sync(() => lookUps++), sessions.peek(token))
    })
    const send = yield* Effect.provideService(
      Host.start({ failedAuthenticationsPerMinute: 2 }),
      Sessions.Sessions,
      counting
    )
    const guess = (index: number) => Browsers.pageOf(send, String(index).padStart(64, "0"))("GET", session)
    for (let index = 0; index < 20; index++) yield* guess(index)
    assert.strictEqual(lookUps, 2)
  }).pipe(Effect.provide(Host.layer)))
