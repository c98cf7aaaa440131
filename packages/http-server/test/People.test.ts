import { assert, it } from "@effect/vitest"
import { Accounts } from "@kinora/accounts"
import { AuditLog } from "@kinora/operators"
import { Member, Members } from "@kinora/sessions"
import type { GroupRule } from "@kinora/sessions/IdentityProviders"
import { Effect, Redacted, Schema } from "effect"
import { TestClock } from "effect/testing"
import * as Browsers from "./Browsers.ts"
import { errorOf } from "./Envelope.ts"
import * as Host from "./Host.ts"
import * as Provider from "./Provider.ts"

const { session } = Browsers
const { ada } = Provider
const adminToken = Redacted.make("the token of the operators of this service")

const sessionAfter = Effect.fnUntraced(function*(
  send: Effect.Success<ReturnType<typeof Host.start>>,
  answer: Host.Answer
) {
  const page = Provider.pageAfter(send, answer)
  return { page, shown: Browsers.sessionOf((yield* page("GET", session)).json) }
})

it.effect("adds a person to the account once, and ends the session when the member is removed", () =>
  Effect.gen(function*() {
    const team = Provider.make("team")
    const send = yield* Provider.start([team])
    const members = yield* Members.Members
    const { account } = yield* Host.openAccount({ email: "ada@example.com" })
    const { page } = yield* sessionAfter(send, yield* Provider.signIn(send, team, ada))
    yield* Provider.signIn(send, team, ada)
    const [member, ...others] = yield* members.list(account.id)
    assert.isEmpty(others)
    assert.deepInclude(member, { issuer: ada.issuer, subject: "1815", email: "ada@example.com", role: "member" })
    yield* members.remove(account.id, member!.id)
    errorOf(yield* page("GET", "/v1/models"), "unauthorized")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("adds one member if a person signs in several times at once", () =>
  Effect.gen(function*() {
    const team = Provider.make("team")
    const send = yield* Provider.start([team])
    const members = yield* Members.Members
    const { account } = yield* Host.openAccount({ email: "ada@example.com" })
    const answers = yield* Effect.all(
      Array.from({ length: 4 }, () => Provider.signIn(send, team, ada)),
      { concurrency: "unbounded" }
    )
    for (const answer of answers) Provider.pageAfter(send, answer)
    assert.lengthOf(yield* members.list(account.id), 1)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("keeps people of different providers apart", () =>
  Effect.gen(function*() {
    const [team, partners] = [Provider.make("team"), Provider.make("partners")]
    const send = yield* Provider.start([team, partners])
    const members = yield* Members.Members
    const { account } = yield* Host.openAccount({ email: "ada@example.com" })
    yield* Provider.signIn(send, team, ada)
    const stranger = { ...ada, issuer: "https://partners.example.com", isEmailVerified: false }
    assert.deepStrictEqual(Provider.failureOf(yield* Provider.signIn(send, partners, stranger)), {
      reason: "email_not_verified",
      email: "ada@example.com"
    })
    assert.lengthOf(yield* members.list(account.id), 1)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("finds a member by the identity when the address has changed", () =>
  Effect.gen(function*() {
    const team = Provider.make("team")
    const send = yield* Provider.start([team])
    const { account } = yield* Host.openAccount({ email: "ada@example.com" })
    yield* Provider.signIn(send, team, ada)
    const renamed = { ...ada, email: "ada.lovelace@example.com", isEmailVerified: false }
    const { shown } = yield* sessionAfter(send, yield* Provider.signIn(send, team, renamed))
    assert.strictEqual(shown.account?.id, account.id)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("turns an invitation into a member of the role that was invited", () =>
  Effect.gen(function*() {
    const team = Provider.make("team")
    const send = yield* Provider.start([team])
    const members = yield* Members.Members
    const { account } = yield* Host.openAccount({ email: "studio@example.com" })
    const invited = yield* members.add({
      ...Member.invitationOf("Ada@example.com"),
      account: account.id,
      email: "Ada@example.com",
      role: "viewer"
    })
    assert.deepStrictEqual(
      Provider.failureOf(yield* Provider.signIn(send, team, { ...ada, isEmailVerified: false })),
      { reason: "email_not_verified", email: "ada@example.com" }
    )
    const { page, shown } = yield* sessionAfter(send, yield* Provider.signIn(send, team, ada))
    assert.deepInclude(shown, { role: "viewer", account: { id: account.id, email: "studio@example.com" } })
    assert.deepStrictEqual(yield* members.list(account.id), [{ ...invited, issuer: ada.issuer, subject: "1815" }])
    const body = { plan: "credits", model: "kinora-still", params: { prompt: "a lake" } }
    errorOf(yield* page("POST", "/v1/generations", { body }), "scope_missing")
    errorOf(yield* page("POST", "/console/v1/keys", { body: { name: "mine" } }), "session_not_allowed")
    assert.strictEqual((yield* page("GET", "/console/v1/keys")).status, 200)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("prefers the account with the person's address, then the account that the person joined first", () =>
  Effect.gen(function*() {
    const team = Provider.make("team")
    const send = yield* Provider.start([team])
    const [accounts, members] = [yield* Accounts.Accounts, yield* Members.Members]
    const [first, second] = [
      yield* Host.openAccount({ email: "first@example.com" }),
      yield* Host.openAccount({ email: "second@example.com" })
    ]
    for (const { account } of [first, second]) {
      yield* members.add({
        ...Member.invitationOf("ada@example.com"),
        account: account.id,
        email: "ada@example.com",
        role: "member"
      })
      yield* TestClock.adjust("1 second")
    }
    const accountAfter = Effect.fnUntraced(function*() {
      const { shown } = yield* sessionAfter(send, yield* Provider.signIn(send, team, ada))
      return shown.account?.id
    })
    assert.strictEqual(yield* accountAfter(), first.account.id)
    yield* accounts.suspend(first.account.id)
    assert.strictEqual(yield* accountAfter(), second.account.id)
    const own = yield* Host.openAccount({ email: "ada@example.com" })
    assert.strictEqual(yield* accountAfter(), own.account.id)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("makes groups determine who is a member of the accounts that they name, at each sign-in", () =>
  Effect.gen(function*() {
    const { account } = yield* Host.openAccount({ email: "studio@example.com" })
    const rules: ReadonlyArray<GroupRule> = [
      { group: "readers", account: "Studio@example.com", role: "viewer" },
      { group: "makers", account: account.id, role: "member" },
      { group: "readers", account: "missing@example.com", role: "member" }
    ]
    const team = Provider.make("team", rules)
    const send = yield* Provider.start([team])
    const members = yield* Members.Members
    const roleWith = Effect.fnUntraced(function*(...groups: ReadonlyArray<string>) {
      const person = { ...ada, groups, isEmailVerified: false }
      return yield* sessionAfter(send, yield* Provider.signIn(send, team, person))
    })
    const reader = yield* roleWith("readers", "others")
    assert.strictEqual(reader.shown.role, "viewer")
    const maker = yield* roleWith("makers", "readers")
    assert.strictEqual(maker.shown.role, "member")
    // The rights of a session never change.
    errorOf(yield* reader.page("GET", "/v1/models"), "unauthorized")
    const left = yield* Provider.signIn(send, team, { ...ada, groups: [], isEmailVerified: false })
    assert.deepStrictEqual(Provider.failureOf(left), { reason: "email_not_verified", email: "ada@example.com" })
    errorOf(yield* maker.page("GET", "/v1/models"), "unauthorized")
    assert.isEmpty(yield* members.list(account.id))
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("gives people of a group a session of an operator, who is named in the audit log", () =>
  Effect.gen(function*() {
    const team = Provider.make("team", [
      { group: "watchers", operator: "auditor" },
      { group: "helpers", operator: "support" }
    ])
    const send = yield* Provider.start([team], { adminToken })
    const audit = yield* AuditLog.AuditLog
    const { account } = yield* Host.openAccount({ email: "ada@example.com" })
    const helper = { ...ada, groups: ["watchers", "helpers"] }
    const { page, shown } = yield* sessionAfter(send, yield* Provider.signIn(send, team, helper))
    assert.deepInclude(shown, { scope: "operator", role: "support", account: null, name: "ada@example.com" })
    yield* TestClock.adjust("1 second")
    assert.strictEqual((yield* page("POST", `/admin/v1/accounts/${account.id}/suspend`)).status, 200)
    errorOf(yield* page("POST", "/admin/v1/operators", { body: { name: "Eve", role: "owner" } }), "role_missing")
    const [suspended, signedIn] = yield* audit.list({ limit: 10 })
    const actor = "oidc:team:ada@example.com"
    assert.deepInclude(suspended, { action: "accounts.suspendAccount", actor, role: "support" })
    assert.deepInclude(signedIn, { action: "session.signIn", actor, role: "support" })
    const path = `/admin/v1/operators/${encodeURIComponent(actor)}/sessions`
    const key = Redacted.value(adminToken)
    const listed = Schema.decodeUnknownSync(Schema.Struct({ data: Schema.Array(Schema.Struct({ id: Schema.String })) }))
    assert.deepStrictEqual(listed((yield* send("GET", path, { key })).json).data.map(({ id }) => id), [shown.id])
    assert.strictEqual((yield* send("DELETE", path, { key })).status, 204)
    errorOf(yield* page("GET", "/admin/v1/accounts"), "unauthorized")

    const unverified = { ...helper, isEmailVerified: false }
    const other = yield* sessionAfter(send, yield* Provider.signIn(send, team, unverified))
    assert.strictEqual(other.shown.name, "1815")

    // Another configuration has other rules.
    const without = yield* Provider.start([Provider.make("team", [{ group: "helpers", operator: "owner" }])], {
      adminToken
    })
    assert.isNull((yield* Provider.pageAfter(without, yield* Provider.signIn(send, team, helper))("GET", session)).json)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("gives no session of an operator on a listener without the operator API", () =>
  Effect.gen(function*() {
    const team = Provider.make("team", [{ group: "helpers", operator: "owner" }])
    yield* Host.openAccount({ email: "ada@example.com" })
    for (const options of [{}, { adminToken, operatorRoutes: false }]) {
      const send = yield* Provider.start([team], options)
      const answer = yield* Provider.signIn(send, team, { ...ada, groups: ["helpers"] })
      assert.strictEqual((yield* sessionAfter(send, answer)).shown.scope, "account")
    }
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("rejects the session of a member whose role has changed since, and whose account has ended", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const [accounts, members] = [yield* Accounts.Accounts, yield* Members.Members]
    const { account } = yield* Host.openAccount()
    const { id } = yield* members.add({
      ...Member.invitationOf("ada@example.com"),
      account: account.id,
      email: "ada@example.com",
      role: "viewer"
    })
    // As if the session had been started while the role changed.
    const grant = { scope: "account", account: account.id, role: "member", member: id } as const
    const code = yield* Browsers.codeOf(grant)
    errorOf(yield* send("POST", session, { headers: Browsers.samePage, body: { code } }), "invalid_code")
    const { page } = yield* Browsers.signInAs(send, { ...grant, role: "viewer" })
    assert.strictEqual((yield* page("GET", "/v1/models")).status, 200)
    yield* accounts.suspend(account.id)
    errorOf(yield* page("GET", "/v1/models"), "unauthorized")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))
