import { assert, it } from "@effect/vitest"
import { AuditLog } from "@kinora/operators"
import { StorageError } from "@kinora/persistence/StorageError"
import { Effect } from "effect"
import { IpNetwork } from "effect/net"
import { TestClock } from "effect/testing"
import * as AuditActions from "../src/AuditActions.ts"
import * as Browsers from "./Browsers.ts"
import { errorOf } from "./Envelope.ts"
import * as Host from "./Host.ts"
import * as Provider from "./Provider.ts"

const { samePage, session } = Browsers

/** The failed sign-ins in the audit log, the first one first. */
const recorded = Effect.gen(function*() {
  const { list } = yield* AuditLog.AuditLog
  const entries = yield* list({ action: AuditActions.failedSignIn, limit: 2_000 })
  return entries.map(({ address, after }) => ({ address, after })).toReversed()
})

it.effect("records the first failed sign-in of an address with each method and reason in an hour, and one that the limit rejects", () =>
  Effect.gen(function*() {
    const send = yield* Host.start({ failedAuthenticationsPerMinute: 8 })
    const attempt = (body: object, from: string) => send("POST", session, { headers: samePage, body, from })
    const wrongKey = (from: string) => send("GET", "/v1/models", { key: "kin_wrong", from })
    const code = { code: "f".repeat(64) }
    const [one, other] = ["203.0.113.1", "203.0.113.2"]
    const invalidCode = { reason: "invalid_code", by: "link" }
    for (let minute = 0; minute < 3; minute++) {
      // A wrong key of a program does not hide the first failed sign-in.
      errorOf(yield* wrongKey(one), "unauthorized")
      for (let index = 0; index < 3; index++) {
        errorOf(yield* attempt(code, one), "invalid_code")
        yield* TestClock.adjust("10 millis")
      }
      errorOf(yield* attempt({ api_key: "kin_wrong" }, one), "unauthorized")
      errorOf(yield* attempt({ proxy: true }, one), "unauthorized")
      errorOf(yield* attempt(code, one), "invalid_code")
      // Nor does one that reaches the limit hide the first sign-in that the limit rejects.
      errorOf(yield* wrongKey(one), "unauthorized")
      for (let index = 0; index < 3; index++) errorOf(yield* attempt(code, one), "rate_limited")
      yield* TestClock.adjust("1 minute")
    }
    const ofOne = [
      { address: one, after: invalidCode },
      { address: one, after: { reason: "unauthorized", by: "key" } },
      { address: one, after: { reason: "unauthorized", by: "proxy" } },
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

it.effect("records at most one failed sign-in of a kind in an hour for each /48 of IPv6, and 1,000 in all", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const attempt = (from: string) => send("POST", session, { headers: samePage, body: { code: "f".repeat(64) }, from })
    for (const from of ["2001:db8:1:1::1", "2001:db8:1:2::1", "2001:db8:2:1::1"]) {
      errorOf(yield* attempt(from), "invalid_code")
    }
    const addresses = Effect.map(recorded, (entries) => entries.map(({ address }) => address))
    assert.deepStrictEqual(yield* addresses, ["2001:db8:1:1::1", "2001:db8:2:1::1"])
    for (let index = 0; index < 1_000; index++) {
      errorOf(yield* attempt(`203.0.${index >> 8}.${index & 255}`), "invalid_code")
    }
    assert.strictEqual((yield* addresses).length, 1_000)
    yield* TestClock.adjust("1 hour")
    errorOf(yield* attempt("192.0.2.1"), "invalid_code")
    assert.strictEqual((yield* addresses).at(-1), "192.0.2.1")
  }).pipe(Effect.provide(Host.layer)))

it.effect("records each person without an account whom the proxy or a provider has authenticated once in an hour", () =>
  Effect.gen(function*() {
    const team = Provider.make("team")
    const send = yield* Provider.start([team], {
      proxyUserHeader: "x-forwarded-email",
      trustedProxies: [IpNetwork.fromStringUnsafe("10.0.0.0/8")]
    })
    const throughProxy = (email: string) =>
      send("POST", session, {
        from: "10.0.0.2",
        headers: { ...samePage, "x-forwarded-for": "203.0.113.9", "x-forwarded-email": email },
        body: { proxy: true }
      })
    const { issuer } = Provider.ada
    for (let minute = 0; minute < 2; minute++) {
      for (const email of ["eve@example.com", "mallory@example.com", "Eve@example.com"]) {
        errorOf(yield* throughProxy(email), "no_account")
      }
      for (const subject of ["1815", "1906", "1815"]) {
        yield* Provider.signIn(send, team, { ...Provider.ada, subject })
      }
      yield* TestClock.adjust("1 minute")
    }
    const [ofProxy, ofTeam] = [{ reason: "no_account", by: "proxy" }, { reason: "no_account", by: "oidc:team", issuer }]
    assert.deepStrictEqual((yield* recorded).map(({ after }) => after), [
      ofProxy,
      ofProxy,
      { ...ofTeam, subject: "1815" },
      { ...ofTeam, subject: "1906" }
    ])
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("records a failed sign-in of a later minute if the first one could not be recorded", () =>
  Effect.gen(function*() {
    const log = yield* AuditLog.AuditLog
    const unavailable = new StorageError({ operation: "test", reason: "unavailable", cause: undefined })
    let isDown = true
    const send = yield* Effect.provideService(
      Host.start(),
      AuditLog.AuditLog,
      AuditLog.AuditLog.of({
        ...log,
        append: (change) => isDown ? Effect.fail(unavailable) : log.append(change)
      })
    )
    const attempt = send("POST", session, { headers: samePage, body: { code: "f".repeat(64) } })
    errorOf(yield* attempt, "unavailable")
    isDown = false
    yield* TestClock.adjust("1 minute")
    errorOf(yield* attempt, "invalid_code")
    assert.strictEqual((yield* recorded).length, 1)
  }).pipe(Effect.provide(Host.layer)))
