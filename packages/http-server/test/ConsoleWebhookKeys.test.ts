import { assert, it } from "@effect/vitest"
import { Accounts, KeyTerms } from "@kinora/accounts"
import { DateTime, Effect, Option, Redacted, Result, Schema } from "effect"
import { IpNetwork } from "effect/net"
import { TestClock } from "effect/testing"
import * as Browsers from "./Browsers.ts"
import { errorOf, limitOf } from "./Envelope.ts"
import * as Host from "./Host.ts"

const endpoints = "/console/v1/webhook-endpoints"
const body = { url: "https://hooks.example.com/kinora" }

const idOf = ({ json }: Host.Answer) => Schema.decodeUnknownSync(Schema.Struct({ id: Schema.String }))(json).id

/** Opens an account, and makes the function that creates a key of it. */
const open = Effect.fnUntraced(function*() {
  const { account } = yield* Host.openAccount()
  const { createKey } = yield* Accounts.Accounts
  return {
    account,
    create: (terms: Partial<KeyTerms.KeyTerms>) =>
      Effect.map(createKey(account.id, "hooks", { ...KeyTerms.unrestricted, ...terms }), ({ key }) => key)
  }
})

const only = (...scopes: ReadonlyArray<KeyTerms.Scope>) => ({ scopes: Option.some(scopes) })

it.effect("an API key with the scope webhooks manages the endpoints of its account, and its session does too", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const { create } = yield* open()
    const key = yield* create(only("webhooks"))
    const { page } = yield* Browsers.signIn(send, { api_key: Redacted.value(key) })
    const created = yield* send("POST", endpoints, { key, body })
    assert.strictEqual(created.status, 201, created.text)
    assert.match(created.text, /whsec_/)
    assert.strictEqual(limitOf(created).limit, 300)
    const one = `${endpoints}/${idOf(created)}`
    for (
      const request of [
        (...[method, path, sent]: Parameters<typeof send>) => send(method, path, { ...sent, key }),
        page
      ]
    ) {
      assert.include((yield* request("GET", endpoints)).text, idOf(created))
      assert.strictEqual((yield* request("GET", one)).status, 200)
      assert.strictEqual((yield* request("PATCH", one, { body: { types: ["generation.failed"] } })).status, 200)
      assert.strictEqual((yield* request("POST", `${one}/rotate`, { body: {} })).status, 200)
      assert.strictEqual((yield* request("POST", `${one}/test`)).status, 202)
      assert.strictEqual((yield* request("GET", `${one}/deliveries`)).status, 200)
      assert.strictEqual((yield* request("GET", `${one}/sends`)).status, 200)
    }
    const { key: foreign } = yield* Host.openAccount({ email: "other@example.com" })
    errorOf(yield* send("GET", one, { key: foreign }), "not_found")
    errorOf(yield* send("DELETE", one, { key: foreign }), "not_found")
    assert.strictEqual((yield* send("DELETE", one, { key })).status, 204)
    // The scope permits nothing else.
    errorOf(yield* send("GET", "/v1/models", { key }), "scope_missing")
    errorOf(yield* send("GET", "/console/v1/keys", { key }), "unauthorized")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("rejects requests for webhook endpoints with a key that lacks the scope or is not allowed for the client", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const { account, create } = yield* open()
    const reader = yield* create(only("generate", "read", "account:read"))
    const { page } = yield* Browsers.signIn(send, { api_key: Redacted.value(reader) })
    for (const answer of [yield* send("GET", endpoints, { key: reader }), yield* page("POST", endpoints, { body })]) {
      assert.deepStrictEqual(errorOf(answer, "scope_missing").details, { scope: "webhooks" })
    }
    const unrestricted = yield* create({})
    assert.strictEqual((yield* send("GET", endpoints, { key: unrestricted })).status, 200)
    const network = Result.getOrThrow(IpNetwork.fromString("192.0.2.0/24"))
    const elsewhere = yield* create({ networks: Option.some([network]) })
    errorOf(yield* send("GET", endpoints, { key: elsewhere }), "address_not_allowed")
    const brief = yield* create({ expiresAt: Option.some(DateTime.add(yield* DateTime.now, { minutes: 1 })) })
    yield* TestClock.adjust("1 minute")
    errorOf(yield* send("GET", endpoints, { key: brief }), "key_expired")
    for (const authorization of ["Bearer kin_unknown", "Basic eDp5"]) {
      errorOf(yield* send("GET", endpoints, { headers: { authorization } }), "unauthorized")
    }
    const { suspend } = yield* Accounts.Accounts
    yield* suspend(account.id)
    errorOf(yield* send("GET", endpoints, { key: unrestricted }), "account_suspended")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))
