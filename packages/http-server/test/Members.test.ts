import { assert, it } from "@effect/vitest"
import { Accounts } from "@kinora/accounts"
import { AuditLog } from "@kinora/operators"
import { Members, type Session } from "@kinora/sessions"
import { Effect, Option, Redacted, Schema } from "effect"
import { TestClock } from "effect/testing"
import * as Browsers from "./Browsers.ts"
import { errorOf } from "./Envelope.ts"
import * as Host from "./Host.ts"
import * as Provider from "./Provider.ts"

const { session } = Browsers
const members = "/console/v1/members"
const token = "the token of the operators of this service"
const adminToken = Redacted.make(token)

const memberOf = (account: string): Session.Grant => ({ scope: "account", account, role: "member", member: null })

const Member = Schema.Struct({
  id: Schema.String,
  email: Schema.String,
  role: Schema.String,
  status: Schema.String,
  created_at: Schema.String
})
const memberIn = Schema.decodeUnknownSync(Member)
const membersIn = Schema.decodeUnknownSync(Schema.Struct({ data: Schema.Array(Member) }))
const invitedIn = Schema.decodeUnknownSync(
  Schema.Struct({ ...Member.fields, link: Schema.Struct({ url: Schema.String, expires_at: Schema.String }) })
)
const linkIn = Schema.decodeUnknownSync(Schema.Struct({ url: Schema.String, expires_at: Schema.String }))

const codeIn = (url: string) => {
  const [page = "", code = ""] = url.split("#code=")
  assert.strictEqual(page, "https://api.example.com/console/")
  return code
}

it.effect("invites a person with a link, lists the members, changes the role, and removes a member", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const audit = yield* AuditLog.AuditLog
    const { account } = yield* Host.openAccount()
    const { page: owner } = yield* Browsers.signInAs(send, memberOf(account.id))
    const answer = yield* owner("POST", members, { body: { email: "Ada@example.com", role: "viewer" } })
    assert.strictEqual(answer.status, 201, answer.text)
    assert.strictEqual(answer.headers["cache-control"], "no-store")
    const { link, ...invited } = invitedIn(answer.json)
    assert.deepInclude(invited, { email: "Ada@example.com", role: "viewer", status: "invited" })
    assert.strictEqual(link.expires_at, "2026-11-21T12:10:30.000Z")
    assert.deepStrictEqual(membersIn((yield* owner("GET", members)).json).data, [invited])
    errorOf(yield* owner("POST", members, { body: { email: "ada@example.com" } }), "member_exists")
    for (const email of ["ada", "a b@example.com", ""]) {
      errorOf(yield* owner("POST", members, { body: { email } }), "invalid_request")
    }

    const { page: ada } = yield* Browsers.signIn(send, { code: codeIn(link.url) })
    assert.deepInclude(Browsers.sessionOf((yield* ada("GET", session)).json), {
      role: "viewer",
      name: "Ada@example.com"
    })
    assert.strictEqual((yield* ada("GET", members)).status, 200)
    const one = `${members}/${invited.id}`
    for (
      const [method, path, body] of [
        ["POST", members, { email: "eve@example.com" }],
        ["PATCH", one, { role: "member" }],
        ["POST", `${one}/sign-in-links`, undefined],
        ["DELETE", one, undefined]
      ] as const
    ) {
      assert.deepStrictEqual(errorOf(yield* ada(method, path, { body }), "session_not_allowed").details, {
        access: "member"
      })
    }

    yield* TestClock.adjust("1 second")
    const changed = yield* owner("PATCH", one, { body: { role: "member" } })
    assert.deepStrictEqual(memberIn(changed.json), { ...invited, role: "member" })
    errorOf(yield* ada("GET", members), "unauthorized")
    yield* TestClock.adjust("1 second")
    const { url } = linkIn((yield* owner("POST", `${one}/sign-in-links`)).json)
    const { page: again } = yield* Browsers.signIn(send, { code: codeIn(url) })
    assert.strictEqual((yield* again("GET", "/v1/models")).status, 200)
    yield* TestClock.adjust("1 second")
    assert.strictEqual((yield* owner("DELETE", one)).status, 204)
    errorOf(yield* again("GET", "/v1/models"), "unauthorized")
    errorOf(yield* owner("DELETE", one), "not_found")
    assert.isEmpty(membersIn((yield* owner("GET", members)).json).data)

    assert.notInclude(JSON.stringify(yield* audit.list({ limit: 20 })), "@")
    const changes = (yield* audit.list({ limit: 20 })).filter(({ action }) => action.startsWith("members."))
    const actor: string = account.id
    const entry = (action: string, before: Schema.Json, after: Schema.Json) => ({
      action: `members.${action}`,
      actor,
      role: "member",
      subject: invited.id,
      before,
      after
    })
    assert.deepStrictEqual(
      changes.map(({ action, actor, after, before, role, subject }): ReturnType<typeof entry> => ({
        action,
        actor,
        role: role ?? "",
        subject: subject ?? "",
        before,
        after
      })),
      [
        entry("removeMember", { account: actor, role: "member" }, {
          account: actor,
          revoked_keys: []
        }),
        entry("createMemberSignInLink", null, { account: actor, role: "member" }),
        entry("updateMember", { account: actor, role: "viewer" }, { account: actor, role: "member" }),
        entry("inviteMember", null, { account: actor, role: "viewer" })
      ]
    )
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("records who created a key, and revokes the keys of a removed member if asked", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const accounts = yield* Accounts.Accounts
    const { account } = yield* Host.openAccount()
    const { page: owner } = yield* Browsers.signInAs(send, memberOf(account.id))
    const remove = Effect.fnUntraced(function*(email: string, query: string) {
      const { id, link } = invitedIn((yield* owner("POST", members, { body: { email } })).json)
      const { page } = yield* Browsers.signIn(send, { code: codeIn(link.url) })
      const keys = "/console/v1/keys"
      const created = yield* page("POST", keys, { body: { name: "mine" } })
      const key = Schema.decodeUnknownSync(Schema.Struct({ id: Schema.String, key: Schema.String }))(created.json)
      const rolled = yield* page("POST", `${keys}/${key.id}/roll`, { body: { overlap_seconds: 60 } })
      assert.strictEqual(rolled.status, 201, rolled.text)
      const ofOwner = yield* owner("POST", keys, { body: { name: "of the owner" } })
      assert.strictEqual(ofOwner.status, 201)
      const authors = (yield* accounts.listKeys(account.id)).map(({ createdBy, name }) => [name, createdBy])
      assert.deepStrictEqual(authors.slice(0, 3), [["of the owner", null], ["mine", id], ["mine", id]])
      assert.strictEqual((yield* owner("DELETE", `${members}/${id}${query}`)).status, 204)
      const active = (yield* accounts.listKeys(account.id)).filter(({ createdBy, revokedAt }) =>
        createdBy === id && Option.isNone(revokedAt)
      )
      return active.length
    })
    assert.strictEqual(yield* remove("ada@example.com", ""), 2)
    assert.strictEqual(yield* remove("bob@example.com", "?revoke_keys=false"), 2)
    assert.strictEqual(yield* remove("eve@example.com", "?revoke_keys=true"), 0)
    errorOf(yield* owner("DELETE", `${members}/mem_x?revoke_keys=maybe`), "invalid_params")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("is the same member after the first sign-in with an identity provider", () =>
  Effect.gen(function*() {
    const team = Provider.make("team")
    const send = yield* Provider.start([team])
    const { account } = yield* Host.openAccount({ email: "studio@example.com" })
    const { page: owner } = yield* Browsers.signInAs(send, memberOf(account.id))
    const { id } = invitedIn((yield* owner("POST", members, { body: { email: "Ada@example.com" } })).json)
    const page = Provider.pageAfter(send, yield* Provider.signIn(send, team, Provider.ada))
    assert.deepInclude(membersIn((yield* page("GET", members)).json).data[0], { id, status: "active" })
    errorOf(yield* owner("POST", members, { body: { email: "ada@example.com" } }), "member_exists")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("never shows or changes members of another account, and none to API keys and operators", () =>
  Effect.gen(function*() {
    const send = yield* Host.start({ adminToken })
    const store = yield* Members.Members
    const [mine, other] = [yield* Host.openAccount(), yield* Host.openAccount({ email: "other@example.com" })]
    const { page: owner } = yield* Browsers.signInAs(send, memberOf(mine.account.id))
    const { page: stranger } = yield* Browsers.signInAs(send, memberOf(other.account.id))
    const { id } = invitedIn((yield* owner("POST", members, { body: { email: "ada@example.com" } })).json)
    assert.isEmpty(membersIn((yield* stranger("GET", members)).json).data)
    const admin = (method: string, path: string, body?: object) =>
      send(method, `/admin/v1/accounts/${other.account.id}/members/${path}`, { key: token, body })
    for (const one of [id, "mem_x", "x"]) {
      for (const act of [(m: string, p: string, body?: object) => stranger(m, `${members}/${p}`, { body }), admin]) {
        errorOf(yield* act("PATCH", one, { role: "viewer" }), "not_found")
        errorOf(yield* act("POST", `${one}/sign-in-links`), "not_found")
        errorOf(yield* act("DELETE", one), "not_found")
      }
    }
    assert.lengthOf(yield* store.list(mine.account.id), 1)
    const { page: ofKey } = yield* Browsers.signIn(send, { api_key: Redacted.value(mine.key) })
    errorOf(yield* ofKey("GET", members), "session_not_allowed")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("permits operators to invite, change and remove the members of an account", () =>
  Effect.gen(function*() {
    const send = yield* Host.start({ adminToken })
    const accounts = yield* Accounts.Accounts
    const { account } = yield* Host.openAccount()
    const admin = (method: string, path: string, body?: object) =>
      send(method, `/admin/v1/accounts/${account.id}/members${path}`, { key: token, body })
    const { link, ...invited } = invitedIn((yield* admin("POST", "", { email: "ada@example.com" })).json)
    yield* Browsers.signIn(send, { code: codeIn(link.url) })
    assert.deepStrictEqual(membersIn((yield* admin("GET", "")).json).data, [invited])
    assert.deepInclude((yield* admin("PATCH", `/${invited.id}`, { role: "viewer" })).json, { role: "viewer" })
    linkIn((yield* admin("POST", `/${invited.id}/sign-in-links`)).json)
    assert.strictEqual((yield* admin("DELETE", `/${invited.id}?revoke_keys=true`)).status, 204)
    errorOf(yield* send("GET", "/admin/v1/accounts/x/members", { key: token }), "not_found")
    const off = yield* Host.start({ adminToken, console: false })
    const path = `/admin/v1/accounts/${account.id}/members`
    errorOf(yield* off("POST", path, { key: token, body: { email: "ada@example.com" } }), "console_disabled")
    yield* accounts.remove(account.id)
    errorOf(yield* admin("POST", "", { email: "ada@example.com" }), "account_deleted")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("has at most 100 members and 20 unused links of one", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const store = yield* Members.Members
    const { account } = yield* Host.openAccount()
    const { page: owner } = yield* Browsers.signInAs(send, memberOf(account.id))
    const { id } = invitedIn((yield* owner("POST", members, { body: { email: "ada@example.com" } })).json)
    const link = owner("POST", `${members}/${id}/sign-in-links`)
    for (let index = 1; index < 20; index++) assert.strictEqual((yield* link).status, 201)
    assert.deepStrictEqual(errorOf(yield* link, "too_many_links").details, { links_max: 20 })
    for (let index = 1; index < 100; index++) {
      const identity = { issuer: "https://id.example.com", subject: `${index}` }
      yield* store.add({ ...identity, account: account.id, email: `${index}@example.com`, role: "viewer" })
    }
    const full = yield* owner("POST", members, { body: { email: "eve@example.com" } })
    assert.deepStrictEqual(errorOf(full, "too_many_members").details, { members_max: 100 })
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("records the changes of members to keys, webhooks and sessions", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const audit = yield* AuditLog.AuditLog
    const { account } = yield* Host.openAccount()
    const { page } = yield* Browsers.signInAs(send, memberOf(account.id))
    const idIn = ({ json }: Host.Answer) => Schema.decodeUnknownSync(Schema.Struct({ id: Schema.String }))(json).id
    const act = (method: string, path: string, body?: object) =>
      Effect.tap(page(method, `/console/v1${path}`, { body }), () => TestClock.adjust("1 second"))
    const key = idIn(yield* act("POST", "/keys", { name: "mine" }))
    yield* act("DELETE", `/keys/${key}`)
    const hook = idIn(yield* act("POST", "/webhook-endpoints", { url: "https://hooks.example.net/" }))
    yield* act("PATCH", `/webhook-endpoints/${hook}`, { status: "disabled" })
    errorOf(yield* act("POST", "/webhook-endpoints", { url: "https://10.0.0.1/" }), "invalid_webhook_url")
    yield* act("DELETE", `/webhook-endpoints/${hook}`)
    yield* act("DELETE", "/sessions")
    const entries = yield* audit.list({ limit: 20 })
    assert.deepStrictEqual(
      entries.map(({ action, subject }) => [action, subject]).slice(0, -1),
      [
        ["sessions.endOtherSessions", null],
        ["webhooks.removeWebhookEndpoint", hook],
        ["webhooks.updateWebhookEndpoint", hook],
        ["webhooks.createWebhookEndpoint", hook],
        ["keys.revokeKey", key],
        ["keys.createKey", key]
      ]
    )
    assert.isTrue(
      entries.every(({ actor, address, role }) =>
        actor === account.id && address === "203.0.113.9" && role === "member"
      )
    )
    assert.notInclude(JSON.stringify(entries), "hooks.example.net")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))
