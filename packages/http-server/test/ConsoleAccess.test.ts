import { assert, it } from "@effect/vitest"
import { Accounts } from "@kinora/accounts"
import { ConsoleAuth, CurrentConsoleSession, Envelope } from "@kinora/http-api/Access"
import * as RequestPolicy from "@kinora/http-api/RequestPolicy"
import { Effect, Layer, Option, Redacted, Schema } from "effect"
import { HttpApi, HttpApiBuilder, HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { defaults } from "../src/HttpServerOptions.ts"
import * as ConsoleAuthentication from "../src/middleware/consoleAuthentication.ts"
import { currentIdentity } from "../src/middleware/currentRequest.ts"
import * as SchemaErrors from "../src/middleware/schemaErrors.ts"
import * as Browsers from "./Browsers.ts"
import { errorOf } from "./Envelope.ts"
import * as Host from "./Host.ts"

const kinds = ["any", "key", "viewer", "member", "reading", "generating"] as const

const policies: Readonly<Record<(typeof kinds)[number], RequestPolicy.Policy>> = {
  any: RequestPolicy.browsing("any"),
  key: RequestPolicy.browsing("key"),
  viewer: RequestPolicy.browsing("viewer"),
  member: RequestPolicy.browsing("member"),
  reading: RequestPolicy.browsing("key", "account:read"),
  generating: RequestPolicy.browsing("key", "generate")
}

const endpointOf = <const Kind extends (typeof kinds)[number]>(kind: Kind) =>
  HttpApiEndpoint.post(kind, `/${kind}`, { success: Schema.String }).annotate(
    RequestPolicy.RequestPolicy,
    policies[kind]
  )

/** An API with an endpoint for each kind of access. */
class Probes extends HttpApi.make("probes").add(
  HttpApiGroup.make("probes").add(
    endpointOf("any"),
    endpointOf("key"),
    endpointOf("viewer"),
    endpointOf("member"),
    endpointOf("reading"),
    endpointOf("generating")
  ).middleware(ConsoleAuth)
).middleware(Envelope).prefix("/console/v1/probes") {}

const scopeOf = () => Effect.map(CurrentConsoleSession, ({ scope }) => scope)
const accountOf = () => Effect.map(currentIdentity, ({ account }) => account.id)

const routes = (options: Parameters<typeof Host.start>[0]) =>
  HttpApiBuilder.layer(Probes).pipe(
    Layer.provide(HttpApiBuilder.group(Probes, "probes", (handlers) =>
      handlers.handleAll({
        any: scopeOf,
        key: accountOf,
        viewer: accountOf,
        member: accountOf,
        reading: accountOf,
        generating: accountOf
      }))),
    Layer.provide([
      SchemaErrors.layer,
      ConsoleAuthentication.layer({ ...defaults, baseUrl: "https://api.example.com", ...options })
    ])
  )

it.effect("permits each endpoint to the sessions that have its access, and provides their account", () =>
  Effect.gen(function*() {
    const options = { adminToken: Redacted.make("x".repeat(32)) }
    const send = yield* Host.start(options, routes(options))
    const { account, key } = yield* Host.openAccount()
    const { createKey } = yield* Accounts.Accounts
    const reader = yield* createKey(account.id, "reader", { scopes: Option.some(["account:read"]) })
    const link = yield* send("POST", "/admin/v1/operators/owner/sign-in-links", { key: "x".repeat(32) })
    const pages = {
      key: yield* Browsers.signIn(send, { api_key: Redacted.value(key) }),
      reader: yield* Browsers.signIn(send, { api_key: Redacted.value(reader.key) }),
      viewer: yield* Browsers.signInAs(send, { scope: "account", account: account.id, role: "viewer", member: null }),
      member: yield* Browsers.signInAs(send, { scope: "account", account: account.id, role: "member", member: null }),
      operator: yield* Browsers.signIn(send, { code: Browsers.linkOf(link).code })
    }
    const permitted: Record<(typeof kinds)[number], ReadonlyArray<keyof typeof pages>> = {
      any: ["key", "reader", "viewer", "member", "operator"],
      key: ["key", "reader", "viewer", "member"],
      viewer: ["viewer", "member"],
      member: ["member"],
      reading: ["key", "reader", "viewer", "member"],
      generating: ["key", "member"]
    }
    for (const kind of kinds) {
      for (const name of ["key", "reader", "viewer", "member", "operator"] as const) {
        const answer = yield* pages[name].page("POST", `/console/v1/probes/${kind}`)
        const what = `${kind} for ${name}`
        if (permitted[kind].includes(name)) {
          const scope = name === "operator" ? "operator" : name === "key" || name === "reader" ? "key" : "account"
          assert.strictEqual(answer.json, kind === "any" ? scope : account.id, what)
        } else if (name === "operator" || kind === "viewer" || kind === "member") {
          const { access = null } = policies[kind]
          assert.deepStrictEqual(errorOf(answer, "session_not_allowed").details, { access }, what)
        } else {
          assert.deepStrictEqual(errorOf(answer, "scope_missing").details, { scope: "generate" }, what)
        }
      }
      const foreign = { cookie: `${Browsers.cookieName}=${pages.member.token}`, "sec-fetch-site": "same-site" }
      errorOf(yield* send("POST", `/console/v1/probes/${kind}`, { headers: foreign }), "cross_origin")
      errorOf(yield* send("POST", `/console/v1/probes/${kind}`, { headers: Browsers.samePage, key }), "unauthorized")
    }
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))
