import { assert, it } from "@effect/vitest"
import { Accounts } from "@kinora/accounts"
import { Effect } from "effect"
import { IpNetwork } from "effect/net"
import { TestClock } from "effect/testing"
import { errorOf, limitOf } from "./Envelope.ts"
import * as Host from "./Host.ts"

const models = "/v1/models"

it.effect("rejects a request without a valid key, and states how to send one", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const { key } = yield* Host.openAccount()
    const wrong: ReadonlyArray<Readonly<Record<string, string>>> = [
      {},
      { authorization: "" },
      { authorization: "Bearer" },
      { authorization: "Bearer kin_wrong" },
      { authorization: `Basic ${btoa("user:password")}` },
      { authorization: "Bearer kin_0000000000000000000000000000000000000000000000000" }
    ]
    for (const headers of wrong) {
      const answer = yield* send("GET", models, { headers })
      errorOf(answer, "unauthorized")
      assert.strictEqual(answer.headers["www-authenticate"], "Bearer")
    }
    assert.strictEqual((yield* send("GET", models, { key })).status, 200)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("rejects a revoked key immediately", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const { account, key, keyId } = yield* Host.openAccount()
    assert.strictEqual((yield* send("GET", models, { key })).status, 200)
    yield* Accounts.Accounts.use((accounts) => accounts.revokeKey(account.id, keyId))
    errorOf(yield* send("GET", models, { key }), "unauthorized")
    const body = { plan: "credits", model: "kinora-still", params: { prompt: "a lake" } }
    errorOf(yield* send("POST", "/v1/generations", { key, body }), "unauthorized")
    assert.deepStrictEqual(yield* Host.balances(account), { credits: 100, quotaUsed: {} })
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("limits failed authentications of one address, but accepts valid keys from it", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const { key } = yield* Host.openAccount()
    for (let n = 0; n < 60; n++) {
      const answer = yield* send("GET", models, { key: "kin_wrong" })
      errorOf(answer, "unauthorized")
      assert.strictEqual(limitOf(answer).remaining, 59 - n)
    }
    const refused = yield* send("GET", models, { key: "kin_wrong" })
    const error = errorOf(refused, "rate_limited")
    assert.deepStrictEqual(error.details, { scope: "auth" })
    assert.isNull(error.plan)
    assert.strictEqual(refused.headers["retry-after"], "30")
    assert.strictEqual((yield* send("GET", models, { key })).status, 200)
    errorOf(yield* send("GET", models, { key: "kin_wrong", from: "203.0.113.10" }), "unauthorized")
    yield* TestClock.adjust("30 seconds")
    errorOf(yield* send("GET", models, { key: "kin_wrong" }), "unauthorized")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("counts the failed authentications of an IPv6 client by its /64", () =>
  Effect.gen(function*() {
    const send = yield* Host.start({ failedAuthenticationsPerMinute: 1 })
    errorOf(yield* send("GET", models, { from: "2001:db8:0:1::1" }), "unauthorized")
    errorOf(yield* send("GET", models, { from: "2001:db8:0:1:ffff::2" }), "rate_limited")
    errorOf(yield* send("GET", models, { from: "2001:db8:0:2::1" }), "unauthorized")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("reads X-Forwarded-For from the right, and from trusted proxies only", () =>
  Effect.gen(function*() {
    const send = yield* Host.start({
      failedAuthenticationsPerMinute: 1,
      trustedProxies: [IpNetwork.fromStringUnsafe("10.0.0.0/8")]
    })
    const forwarded = (list: string, from: string) =>
      send("GET", models, { from, headers: { "x-forwarded-for": list } })
    errorOf(yield* forwarded("198.51.100.1", "10.0.0.1"), "unauthorized")
    errorOf(yield* forwarded("6.6.6.6, 198.51.100.1, 10.0.0.2", "10.0.0.1"), "rate_limited")
    errorOf(yield* forwarded("198.51.100.2", "10.0.0.1"), "unauthorized")
    errorOf(yield* forwarded("198.51.100.1", "203.0.113.9"), "unauthorized")
    errorOf(yield* forwarded("198.51.100.99", "203.0.113.9"), "rate_limited")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("limits each key over all endpoints until the minute ends", () =>
  Effect.gen(function*() {
    const send = yield* Host.start({ keyRequestsPerMinute: 3 })
    const { account, key } = yield* Host.openAccount()
    const reset = Host.startedAt.epochMilliseconds / 1000 + 30
    assert.deepStrictEqual(limitOf(yield* send("GET", models, { key })), { limit: 3, remaining: 2, reset })
    assert.deepStrictEqual(limitOf(yield* send("GET", "/v1/generations/x", { key })), { limit: 3, remaining: 1, reset })
    yield* send("POST", "/v1/generations/x/cancel", { key })
    const refused = yield* send("GET", models, { key })
    assert.deepStrictEqual(errorOf(refused, "rate_limited").details, { scope: "key" })
    assert.deepStrictEqual(limitOf(refused), { limit: 3, remaining: 0, reset })
    assert.strictEqual(refused.headers["retry-after-ms"], "30000")

    const second = yield* Accounts.Accounts.use((accounts) => accounts.createKey(account.id, "second"))
    assert.strictEqual((yield* send("GET", models, { key: second.key })).status, 200)
    yield* TestClock.adjust("30 seconds")
    assert.strictEqual((yield* send("GET", models, { key })).status, 200)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("describes the limit of failed authentications without a key, and no limit on probes and documents", () =>
  Effect.gen(function*() {
    const send = yield* Host.start({ docs: true })
    assert.deepStrictEqual(limitOf(yield* send("GET", "/v1/unknown")), {
      limit: 60,
      remaining: 60,
      reset: Host.startedAt.epochMilliseconds / 1000 + 30
    })
    for (const path of ["/healthz", "/readyz", "/metrics", "/openapi.json", "/docs/documents.json"]) {
      const answer = yield* send("GET", path)
      assert.strictEqual(answer.status, 200)
      assert.notProperty(answer.headers, "x-ratelimit-limit")
    }
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))
