import { assert, layer } from "@effect/vitest"
import type { UnitOfWork } from "@kinora/persistence"
import { Effect, Exit, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { invitationOf, isInvited, MemberId } from "../src/Member.ts"
import type { NewMember } from "../src/Members.ts"
import type { Grant } from "../src/Session.ts"
import type { SessionStore } from "../src/SessionStore.ts"
import { browser, makeHost, makeMembers, memberOf, reasonOf, resultOf } from "./Hosts.ts"

const issuer = "https://id.example.com"

const ada = (account: string): NewMember => ({
  account,
  issuer,
  subject: "ada",
  email: "ada@example.com",
  role: "member"
})

const emailAndRole = { email: "ada@example.com", role: "member" } as const

/** The contract of members, for every store. */
export const suite = <E>(name: string, backend: Layer.Layer<SessionStore | UnitOfWork.UnitOfWork, E>) =>
  layer(Layer.merge(backend, SecureRandom.layerWebCrypto))(`Members (${name})`, (it) => {
    it.effect("are added to an account once, and found by their identity", () =>
      Effect.gen(function*() {
        const members = yield* makeMembers()
        const first = yield* members.add(ada("m-1"))
        const second = yield* members.add(ada("m-2"))
        assert.strictEqual(yield* reasonOf(members.add(ada("m-1"))), "MemberExists")
        assert.deepStrictEqual(yield* members.list("m-1"), [first])
        assert.deepStrictEqual(yield* members.find({ issuer, subject: "ada" }), [second, first])
        for (const subject of ["bob", "", "\0"]) assert.isEmpty(yield* members.find({ issuer, subject }))
      }))

    it.effect("have texts that are not empty, not too long, and without control characters", () =>
      Effect.gen(function*() {
        const members = yield* makeMembers()
        for (const field of ["issuer", "subject", "email"]) {
          for (const text of ["", "a\0", "\udc00", "a".repeat(513)]) {
            assert.strictEqual(yield* reasonOf(members.add({ ...ada("m-3"), [field]: text })), "MemberInvalid")
          }
        }
      }))

    it.effect("never exceed membersMax with concurrent calls", () =>
      Effect.gen(function*() {
        const hosts = [yield* makeMembers({ membersMax: 3 }), yield* makeMembers({ membersMax: 3 })] as const
        const exits = yield* Effect.forEach(
          Array.from({ length: 8 }, (_, index) => index),
          (index) => Effect.exit(hosts[index % 2]!.add({ ...ada("m-4"), subject: `person-${index}` })),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(exits.filter(Exit.isSuccess).length, 3)
        assert.strictEqual(yield* reasonOf(hosts[0].add(ada("m-4"))), "TooManyMembers")
      }))

    it.effect("lose their sessions with a change of their role and with their removal", () =>
      Effect.gen(function*() {
        const [members, sessions] = [yield* makeMembers(), yield* makeHost()]
        const member = yield* members.add(ada("m-5"))
        const grant: Grant = { scope: "account", account: "m-5", role: "member", member: member.id }
        const other = yield* sessions.start(memberOf("m-5"), browser)
        const first = yield* sessions.start(grant, browser)
        yield* members.setRole("m-5", member.id, "member")
        assert.strictEqual(yield* resultOf(sessions, first.token), first.session.id)
        assert.strictEqual((yield* members.setRole("m-5", member.id, "viewer")).role, "viewer")
        assert.strictEqual((yield* members.list("m-5"))[0]?.role, "viewer")
        assert.strictEqual(yield* resultOf(sessions, first.token), "unknown")
        const second = yield* sessions.start({ ...grant, role: "viewer" }, browser)
        yield* members.remove("m-5", member.id)
        assert.strictEqual(yield* resultOf(sessions, second.token), "unknown")
        assert.strictEqual(yield* resultOf(sessions, other.token), other.session.id)
        assert.isEmpty(yield* members.list("m-5"))
      }))

    it.effect("lose their sign-in links with a change of their role and with their removal", () =>
      Effect.gen(function*() {
        const [members, sessions] = [yield* makeMembers(), yield* makeHost()]
        const member = yield* members.add({ ...invitationOf("Ada@Example.com"), ...emailAndRole, account: "m-9" })
        const grant: Grant = { scope: "account", account: "m-9", role: "member", member: member.id }
        const first = yield* sessions.createCode(grant)
        yield* members.setRole("m-9", member.id, "viewer")
        assert.strictEqual((yield* Effect.flip(sessions.redeem(first.code, browser)))._tag, "CodeRejected")
        const second = yield* sessions.createCode({ ...grant, role: "viewer" })
        yield* members.remove("m-9", member.id)
        assert.strictEqual((yield* Effect.flip(sessions.redeem(second.code, browser)))._tag, "CodeRejected")
      }))

    it.effect("are invited by e-mail address, and keep their id and sessions with their first sign-in", () =>
      Effect.gen(function*() {
        const [members, sessions] = [yield* makeMembers(), yield* makeHost()]
        const invited = yield* members.add({ ...invitationOf("Ada@Example.com "), ...emailAndRole, account: "m-10" })
        assert.isTrue(isInvited(invited))
        assert.deepStrictEqual(yield* members.find(invitationOf("ada@example.com")), [invited])
        const grant: Grant = { scope: "account", account: "m-10", role: "member", member: invited.id }
        const { session, token } = yield* sessions.start(grant, browser)
        const identity = { issuer, subject: "ada" }
        const member = yield* members.identify("m-10", invited.id, identity)
        assert.deepStrictEqual(member, { ...invited, ...identity })
        assert.isFalse(isInvited(member))
        assert.deepStrictEqual(yield* members.get("m-10", invited.id), member)
        assert.deepStrictEqual(yield* members.identify("m-10", invited.id, identity), member)
        assert.isEmpty(yield* members.find(invitationOf("ada@example.com")))
        assert.strictEqual(yield* resultOf(sessions, token), session.id)
        const other = yield* members.add({ ...ada("m-10"), subject: "bob" })
        assert.strictEqual(yield* reasonOf(members.identify("m-10", other.id, identity)), "MemberExists")
        assert.strictEqual(
          yield* reasonOf(members.identify("m-10", other.id, { issuer, subject: "" })),
          "MemberInvalid"
        )
      }))

    it.effect("are changed and removed by their account only", () =>
      Effect.gen(function*() {
        const members = yield* makeMembers()
        const { id } = yield* members.add(ada("m-6"))
        for (const [account, member] of [["m-7", id], ["m-6", yield* MemberId.make]] as const) {
          assert.strictEqual(yield* reasonOf(members.setRole(account, member, "viewer")), "MemberNotFound")
          assert.strictEqual(yield* reasonOf(members.remove(account, member)), "MemberNotFound")
          assert.strictEqual(yield* reasonOf(members.get(account, member)), "MemberNotFound")
          assert.strictEqual(
            yield* reasonOf(members.identify(account, member, { issuer, subject: "eve" })),
            "MemberNotFound"
          )
        }
        yield* members.add({ ...ada("m-6"), subject: "bob" })
        yield* members.add(ada("m-8"))
        yield* members.removeAll("m-6")
        yield* members.removeAll("m-6")
        assert.isEmpty(yield* members.list("m-6"))
        assert.strictEqual((yield* members.list("m-8")).length, 1)
      }))
  })
