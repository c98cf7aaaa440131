/**
 * A session of an account, and an API key with the scope `webhooks`, cannot see or change anything of another account
 * through the API of the console. Every operation of its OpenAPI document is covered; one without a case fails the test.
 */
import { assert, describe, it } from "@effect/vitest"
import { Accounts } from "@kinora/accounts"
import { AccountId } from "@kinora/accounts/Account"
import { ScriptedGenerator } from "@kinora/generator"
import { ConsoleOpenApiDocument } from "@kinora/http-api"
import { Members, type Session, Sessions } from "@kinora/sessions"
import { Webhooks } from "@kinora/webhooks"
import { Duration, Effect, Layer, Option, Redacted } from "effect"
import * as Books from "../src/Books.ts"
import * as Client from "../src/Client.ts"
import * as LocalHost from "../src/LocalHost.ts"
import * as Operations from "../src/Operations.ts"
import { image } from "./fuzzedModels.ts"

const operations = Operations.read(JSON.parse(JSON.stringify(ConsoleOpenApiDocument.document)))

const host = LocalHost.layer({
  models: [image],
  generator: ScriptedGenerator.layer.pipe(Layer.provide(ScriptedGenerator.layerControl({ pollInterval: "10 millis" }))),
  // The stream of events ends soon.
  http: { accountEventsTime: Duration.millis(300) }
})

/** Kinds of things of which the owner has one each. */
type Thing = "job" | "key" | "endpoint" | "member" | "session"

/**
 * Cases by operation. `own`: it concerns the session of the request alone. `reads`: its response contains nothing of the
 * owner. `creates`: what it makes belongs to the caller. Otherwise, the id of the owner's thing is like an unknown one.
 */
type Case = "own" | "reads" | { readonly creates: object } | { readonly thing: Thing; readonly body?: object }

const cases: Readonly<Record<string, Case>> = {
  "session.signIn": "own",
  "session.getSession": "reads",
  "session.signOut": "own",
  "signIn.listSignInMethods": "own",
  "signIn.beginSignIn": "own",
  "signIn.completeSignIn": "own",
  "members.listMembers": "reads",
  "members.inviteMember": { creates: { email: "stranger@example.com" } },
  "members.updateMember": { thing: "member", body: { role: "viewer" } },
  "members.removeMember": { thing: "member" },
  "members.createMemberSignInLink": { thing: "member" },
  "sessions.listSessions": "reads",
  "sessions.endOtherSessions": "own",
  "sessions.endSession": { thing: "session" },
  "keys.listKeys": "reads",
  "keys.createKey": { creates: { name: "stranger" } },
  "keys.updateKey": { thing: "key", body: { budget: { jobs_per_day: 1 } } },
  "keys.revokeKey": { thing: "key" },
  "keys.rollKey": { thing: "key", body: {} },
  "webhooks.listWebhookEndpoints": "reads",
  "webhooks.createWebhookEndpoint": { creates: { url: "https://8.8.4.4/stranger" } },
  "webhooks.getWebhookEndpoint": { thing: "endpoint" },
  "webhooks.updateWebhookEndpoint": { thing: "endpoint", body: { status: "disabled" } },
  "webhooks.removeWebhookEndpoint": { thing: "endpoint" },
  "webhooks.rotateWebhookSecret": { thing: "endpoint", body: {} },
  "webhooks.testWebhookEndpoint": { thing: "endpoint" },
  "webhooks.listWebhookSends": { thing: "endpoint" },
  "webhooks.listWebhookDeliveries": { thing: "endpoint" },
  "webhooks.resendWebhookDelivery": { thing: "endpoint" },
  "webhooks.getWebhookDelivery": { thing: "endpoint" },
  "webhooks.resendFailedDeliveries": { thing: "endpoint", body: { since: "2026-01-01T00:00:00Z" } },
  "reports.getSummary": "reads",
  "reports.getStatement": "reads",
  "reports.getActivity": { thing: "job" },
  "reports.followJobs": "reads",
  "view.startView": "own",
  "view.endView": "own"
}

const prompt = "a lake that nobody else knows"
const memberEmail = "owner@example.com"

describe("another account's session", { timeout: 600_000 }, () => {
  it.live("has a case for every operation of the console, and none that does not exist", () =>
    Effect.sync(() => assert.sameMembers(Object.keys(cases), operations.map(({ id }) => id))))

  it.live("receives the response of an unknown id for every id of the owner, and so does its API key", () =>
    Effect.gen(function*() {
      const { owner, stranger } = yield* makeAccounts
      let checked = 0
      for (const operation of operations) {
        const found = cases[operation.id]
        if (found === undefined || typeof found === "string" || "creates" in found) continue
        const id = owner.ids[found.thing]
        const isForKeys = operation.path.startsWith("/console/v1/webhook-endpoints")
        for (const ask of isForKeys ? [stranger.ask, stranger.askWithKey] : [stranger.ask]) {
          const of = (id: string) => ask(operation, { id, delivery_id: owner.ids.delivery }, found.body)
          const [actual, unknown] = [yield* of(id), yield* of(`${id.slice(0, -6)}zzzzzz`)]
          assert.strictEqual(actual.status, 404, `${operation.id} ${textOf(actual)}`)
          assert.deepStrictEqual([textOf(actual), Client.errorCodeOf(actual)], [textOf(unknown), "not_found"])
          checked++
        }
      }
      assert.isAtLeast(checked, 20)
      yield* owner.assertUntouched
    }).pipe(Effect.provide(host)))

  it.live("finds nothing of the owner in operations without ids, and makes nothing for the owner", () =>
    Effect.gen(function*() {
      const { owner, stranger } = yield* makeAccounts
      for (const operation of operations) {
        const found = cases[operation.id]
        if (found === undefined || found === "own" || (typeof found === "object" && "thing" in found)) continue
        const answer = yield* stranger.ask(operation, {}, typeof found === "object" ? found.creates : undefined)
        assert.isBelow(answer.status, 300, `${operation.id} ${textOf(answer)}`)
        for (const word of [prompt, memberEmail, owner.account, owner.key, ...Object.values(owner.ids)]) {
          assert.notInclude(textOf(answer), word, operation.id)
        }
      }
      yield* owner.assertUntouched
    }).pipe(Effect.provide(host)))
})

const textOf = ({ bytes }: Client.Answer): string => new TextDecoder().decode(bytes)

const idOf = (account: string): AccountId => Option.getOrThrow(Option.fromUndefinedOr(AccountId.parse(account)))

/** Makes the function that sends requests of a member of an account, as a page of the server does. */
const signIn = Effect.fnUntraced(function*(account: string) {
  const baseUrl = yield* LocalHost.baseUrl
  const grant: Session.Grant = { scope: "account", account, role: "member", member: null }
  const { session, token } = yield* Sessions.Sessions.use(({ start }) =>
    start(grant, { device: Option.none(), address: "192.0.2.1" })
  )
  const cookie = `kinora_${new URL(baseUrl).port}=${Redacted.value(token)}`
  return { session, ask: asking(baseUrl, { cookie, origin: baseUrl }) }
})

const asking =
  (baseUrl: string, headers: Readonly<Record<string, string>>) =>
  (operation: Operations.Operation, ids: Readonly<Record<string, string>>, body?: object) =>
    Client.send(`${baseUrl}${Operations.fill(operation, ids)}`, {
      method: operation.method,
      headers: { ...headers, ...(body !== undefined && { "content-type": "application/json" }) },
      ...(body !== undefined && { body: JSON.stringify(body) })
    })

/** Two equal accounts with a member each. The owner has one of everything. */
const makeAccounts = Effect.gen(function*() {
  const baseUrl = yield* LocalHost.baseUrl
  const accounts = yield* Accounts.Accounts
  const webhooks = yield* Webhooks.Webhooks
  const [first, other] = [yield* Books.openAccount({ credits: 100 }), yield* Books.openAccount({ credits: 100 })]
  const client = Client.make(baseUrl, first.key)
  const job = Client.jobOf(yield* client.create({ model: image.id, prompt }))
  yield* client.awaitEnd(job.id)
  const { endpoint } = yield* webhooks.create(first.id, { url: "https://8.8.8.8/owner" })
  const delivery = yield* webhooks.test(first.id, endpoint.id)
  const { session } = yield* signIn(first.id)
  const members = yield* Members.Members
  const member = yield* members.add({
    account: first.id,
    email: memberEmail,
    issuer: "test",
    subject: "owner",
    role: "member"
  })
  const [key] = yield* accounts.listKeys(idOf(first.id))
  const state = Effect.gen(function*() {
    return [
      (yield* accounts.listKeys(idOf(first.id))).map(({ budget, id, revokedAt }) => ({ budget, id, revokedAt })),
      (yield* members.list(first.id)).map(({ email, id, role }) => ({ email, id, role })),
      (yield* webhooks.list(first.id)).map(({ id, secretCreatedAt, status }) => ({ id, secretCreatedAt, status })),
      (yield* webhooks.deliveries(first.id, endpoint.id, { limit: 10 })).map(({ id }) => id),
      (yield* Sessions.Sessions.use(({ list }) => list(session.grant))).map(({ id }) => id)
    ]
  })
  const before = yield* state
  const owner = {
    account: first.id,
    key: first.key,
    ids: {
      job: job.id,
      key: key!.id,
      endpoint: endpoint.id,
      member: member.id,
      session: session.id,
      delivery: delivery.id
    },
    assertUntouched: Effect.map(state, (after) => assert.deepStrictEqual(after, before))
  } as const
  const stranger = {
    ask: (yield* signIn(other.id)).ask,
    askWithKey: asking(baseUrl, { authorization: `Bearer ${other.key}` })
  }
  return { owner, stranger }
})
