import { assert, layer } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence"
import { DateTime, Effect, Exit, Layer, Option, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { TestClock } from "effect/testing"
import { type Account, AccountId, type AccountSearch, erasedEmail } from "../src/Account.ts"
import type * as Accounts from "../src/Accounts.ts"
import type { AccountStore } from "../src/AccountStore.ts"
import * as ApiKey from "../src/ApiKey.ts"
import { unrestricted } from "../src/KeyTerms.ts"
import { isKnown, makeAccount, makeHost, makeKey, makeSpy, reasonOf } from "./Hosts.ts"

const pro = (periodEnd: DateTime.Utc) => Option.some({ tier: "pro", periodEnd, autoRenew: true } as const)

/** The contract of accounts, for every store. */
export const suite = <E>(name: string, backend: Layer.Layer<AccountStore | UnitOfWork.UnitOfWork, E>) =>
  layer(Layer.merge(backend, SecureRandom.layerWebCrypto))(`Accounts (${name})`, (it) => {
    it.effect("creates active accounts without a plan", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const account = yield* host.create({ email: "Ada@Example.com" })
        assert.strictEqual(account.status, "active")
        assert.isTrue(Option.isNone(account.plans.studio) && Option.isNone(account.plans.credits))
        assert.deepStrictEqual(yield* host.get(account.id), account)
        assert.deepStrictEqual(yield* host.findByEmail("ada@example.COM"), Option.some(account))
        assert.isTrue(Option.isNone(yield* host.findByEmail("nobody@example.com")))
      }))

    it.effect("creates one account per email address, in any letter case and with concurrent calls", () =>
      Effect.gen(function*() {
        const [one, other] = [yield* makeHost(), yield* makeHost()]
        const asked = ["race@example.com", "RACE@example.com", "Race@Example.com", "race@EXAMPLE.com"]
        const exits = yield* Effect.forEach(
          asked,
          (email, index) => Effect.exit((index % 2 === 0 ? one : other).create({ email })),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(exits.filter(Exit.isSuccess).length, 1)
        assert.strictEqual(yield* reasonOf(one.create({ email: "race@example.com" })), "EmailTaken")
      }))

    it.effect("creates many accounts concurrently", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const accounts = yield* Effect.forEach(Array.from({ length: 40 }), () => makeAccount(host), {
          concurrency: "unbounded"
        })
        assert.strictEqual(new Set(accounts.map(({ id }) => id)).size, 40)
      }))

    it.effect("deletes an account with its keys and plans, restores it without them, and erases it", () =>
      Effect.gen(function*() {
        const [host, other] = [yield* makeHost(), yield* makeHost()]
        const { account: { email, id }, key } = yield* makeKey(host)
        yield* host.setPlan(id, "studio", pro(DateTime.add(yield* DateTime.now, { days: 1 })))
        yield* host.deposit(id, { reference: "a", cents: 5 })
        const deletedAt = yield* DateTime.now
        const removed = yield* host.remove(id)
        assert.deepInclude(removed, { status: "deleted", email, balanceCents: 5, deletedAt })
        assert.isTrue(Option.isNone(removed.plans.studio))
        assert.deepStrictEqual(yield* other.get(id), removed)
        assert.isFalse(yield* isKnown(host, key))
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(yield* host.remove(id), removed)
        const changes: ReadonlyArray<Effect.Effect<unknown, Accounts.Failure>> = [
          host.changeEmail(id, "x@example.com"),
          host.suspend(id),
          host.resume(id),
          host.createKey(id, "new"),
          host.setPlan(id, "studio", Option.none()),
          host.deposit(id, { reference: "b", cents: 1 })
        ]
        for (const change of changes) assert.strictEqual(yield* reasonOf(change), "AccountDeleted")

        const restored = yield* host.restore(id)
        assert.deepInclude(restored, { status: "active", balanceCents: 5 })
        assert.notProperty(restored, "deletedAt")
        assert.deepStrictEqual(yield* host.restore(id), restored)
        assert.isFalse(yield* isKnown(host, key))
        yield* host.createKey(id, "new")
        // An active account is not erased.
        yield* host.erase(id)
        assert.deepStrictEqual(yield* host.get(id), restored)

        yield* host.remove(id)
        const isErasable = (age: "1 day" | "2 days") => Effect.map(host.erasable(age, 100), (ids) => ids.includes(id))
        assert.isFalse(yield* isErasable("1 day"))
        yield* TestClock.adjust("25 hours")
        assert.deepStrictEqual([yield* isErasable("1 day"), yield* isErasable("2 days")], [true, false])
        yield* host.erase(id)
        assert.isFalse(yield* isErasable("1 day"))
        assert.deepInclude(yield* host.get(id), { status: "erased", email: erasedEmail(id), balanceCents: 5 })
        assert.deepStrictEqual(yield* host.listKeys(id), [])
        assert.strictEqual(yield* reasonOf(host.restore(id)), "AccountDeleted")
        assert.strictEqual((yield* host.listMovements({ account: id, limit: 10 })).length, 1)
        // The address is free for another account.
        assert.notStrictEqual((yield* host.create({ email })).id, id)
      }))

    it.effect("lists accounts by part of their address, id and status, newest first, page by page", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const made: Array<Account> = []
        for (const name of ["One", "two", "three", "four"]) {
          yield* TestClock.adjust("1 second")
          made.push(yield* host.create({ email: `${name}@list.example` }))
        }
        const [one, two, three, four] = made as [Account, Account, Account, Account]
        yield* host.suspend(two.id)
        const emails = (query: Partial<AccountSearch>) =>
          Effect.map(
            host.list({ limit: 10, search: "@LIST.example", ...query }),
            (accounts) => accounts.map(({ email }) => email.split("@")[0])
          )
        assert.deepStrictEqual(yield* emails({}), ["four", "three", "two", "One"])
        assert.deepStrictEqual(yield* emails({ limit: 3 }), ["four", "three", "two"])
        assert.deepStrictEqual(yield* emails({ after: three.id }), ["two", "One"])
        assert.deepStrictEqual(yield* emails({ status: "suspended" }), ["two"])
        assert.deepStrictEqual(yield* emails({ search: "oNE@list" }), ["One"])
        assert.deepStrictEqual(yield* emails({ search: four.id }), ["four"])
        assert.deepStrictEqual(yield* emails({ search: four.id, status: "suspended" }), [])
        assert.deepStrictEqual(yield* emails({ search: one.id, after: one.id }), [])
        // Neither a wildcard nor a text that no address contains matches.
        for (const search of ["%", "_ne@list", "\0", "\ud800", "a b"]) {
          assert.deepStrictEqual(yield* emails({ search }), [], search)
        }
        assert.deepStrictEqual((yield* host.list({ limit: 1 }))[0]?.id, four.id)
      }))

    it.effect("changes an email address, unless another account has it", () =>
      Effect.gen(function*() {
        const [one, other] = [yield* makeHost(), yield* makeHost()]
        const { id } = yield* one.create({ email: "before@change.example" })
        yield* one.create({ email: "taken@change.example" })
        const { account, key } = yield* makeKey(one)

        assert.strictEqual((yield* one.changeEmail(id, "After@change.example")).email, "After@change.example")
        assert.strictEqual((yield* one.changeEmail(id, "after@change.example")).email, "after@change.example")
        assert.deepStrictEqual(
          Option.map(yield* other.findByEmail("after@CHANGE.example"), (account) => account.id),
          Option.some(id)
        )
        assert.isTrue(Option.isNone(yield* other.findByEmail("before@change.example")))
        yield* one.create({ email: "before@change.example" })

        assert.strictEqual(yield* reasonOf(one.changeEmail(id, "TAKEN@change.example")), "EmailTaken")
        assert.strictEqual(yield* reasonOf(one.changeEmail(id, "nothing")), "EmailInvalid")
        assert.strictEqual(
          yield* reasonOf(one.changeEmail(yield* AccountId.make, "x@change.example")),
          "AccountNotFound"
        )
        assert.strictEqual((yield* one.get(id)).email, "after@change.example")

        // A key is returned with the new address at once.
        yield* one.changeEmail(account.id, "key@change.example")
        assert.strictEqual(Option.getOrThrow(yield* one.authenticate(key)).account.email, "key@change.example")
      }))

    it.effect("gives an email address to one of many accounts that change to it and are created with it", () =>
      Effect.gen(function*() {
        const hosts = [yield* makeHost(), yield* makeHost()] as const
        const accounts = yield* Effect.forEach(Array.from({ length: 4 }), () => makeAccount(hosts[0]))
        const exits = yield* Effect.forEach(
          accounts.flatMap(({ id }, index) => [
            Effect.asVoid(hosts[index % 2]!.changeEmail(id, "Prize@change.example")),
            Effect.asVoid(hosts[index % 2]!.create({ email: "prize@change.example" }))
          ]),
          Effect.exit,
          { concurrency: "unbounded" }
        )
        assert.strictEqual(exits.filter(Exit.isSuccess).length, 1)
        assert.strictEqual((yield* hosts[0].list({ search: "prize@change.example", limit: 9 })).length, 1)
      }))

    it.effect("rejects invalid email addresses", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        for (const email of ["", "a", "@b", "a@", "a b@c", "a@b@c", "a\0@b", "\ud800@b", `${"a".repeat(253)}@b`]) {
          assert.strictEqual(yield* reasonOf(host.create({ email })), "EmailInvalid")
        }
      }))

    it.effect("fails for accounts and keys that do not exist", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const nobody = yield* AccountId.make
        const key = yield* ApiKey.KeyId.make
        assert.strictEqual(yield* reasonOf(host.get(nobody)), "AccountNotFound")
        assert.strictEqual(yield* reasonOf(host.plans(nobody)), "AccountNotFound")
        assert.strictEqual(yield* reasonOf(host.suspend(nobody)), "AccountNotFound")
        assert.strictEqual(yield* reasonOf(host.resume(nobody)), "AccountNotFound")
        assert.strictEqual(yield* reasonOf(host.createKey(nobody, "test")), "AccountNotFound")
        assert.strictEqual(yield* reasonOf(host.listKeys(nobody)), "AccountNotFound")
        assert.strictEqual(yield* reasonOf(host.setPlan(nobody, "studio", Option.none())), "AccountNotFound")
        assert.strictEqual(yield* reasonOf(host.revokeKey(nobody, key)), "KeyNotFound")
        assert.strictEqual(yield* reasonOf(host.getKey(nobody, key)), "KeyNotFound")
      }))

    it.effect("returns the identity of a key", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const { account, key, record } = yield* makeKey(host)
        assert.deepStrictEqual(
          yield* host.authenticate(key),
          Option.some({ account, keyId: record.id, terms: unrestricted })
        )
        assert.strictEqual(record.prefix, Redacted.value(key).slice(0, 12))
        assert.strictEqual(record.name, "test")
      }))

    it.effect("rejects names with invalid characters", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const account = yield* makeAccount(host)
        for (const name of ["", " ", "a\nb", "a\0", "\udc00", "a".repeat(ApiKey.nameCharsMax + 1)]) {
          assert.strictEqual(yield* reasonOf(host.createKey(account.id, name)), "KeyNameInvalid")
        }
      }))

    it.effect("never exceeds keysMax with concurrent calls", () =>
      Effect.gen(function*() {
        const [one, other] = [yield* makeHost({ keysMax: 3 }), yield* makeHost({ keysMax: 3 })]
        const account = yield* makeAccount(one)
        const exits = yield* Effect.forEach(
          Array.from({ length: 8 }, (_, index) => index % 2 === 0 ? one : other),
          (host) => Effect.exit(host.createKey(account.id, "test")),
          { concurrency: "unbounded" }
        )
        const made = exits.filter(Exit.isSuccess)
        assert.strictEqual(made.length, 3)
        assert.strictEqual(yield* reasonOf(one.createKey(account.id, "test")), "TooManyKeys")
        yield* one.revokeKey(account.id, made[0]!.value.record.id)
        yield* one.createKey(account.id, "test")
      }))

    it.effect("lists active keys before revoked ones, newest first", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const account = yield* makeAccount(host)
        for (const name of ["a", "b", "c", "d"]) {
          yield* TestClock.adjust("1 second")
          yield* host.createKey(account.id, name)
        }
        const ids = new Map((yield* host.listKeys(account.id)).map(({ id, name }) => [name, id]))
        yield* host.revokeKey(account.id, ids.get("b")!)
        yield* host.revokeKey(account.id, ids.get("d")!)
        assert.deepStrictEqual((yield* host.listKeys(account.id)).map(({ name }) => name), ["c", "a", "d", "b"])
      }))

    it.effect("revokes a key once, and only for its own account", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const { account, key, record } = yield* makeKey(host)
        const stranger = yield* makeAccount(host)
        assert.strictEqual(yield* reasonOf(host.revokeKey(stranger.id, record.id)), "KeyNotFound")
        assert.isTrue(yield* isKnown(host, key))
        assert.strictEqual(yield* reasonOf(host.getKey(stranger.id, record.id)), "KeyNotFound")
        assert.isTrue(Option.isNone((yield* host.getKey(account.id, record.id)).revokedAt))
        const revoked = yield* host.revokeKey(account.id, record.id)
        assert.isTrue(Option.isSome(revoked.revokedAt))
        assert.deepStrictEqual((yield* host.getKey(account.id, record.id)).revokedAt, revoked.revokedAt)
        yield* TestClock.adjust("1 minute")
        assert.deepStrictEqual((yield* host.revokeKey(account.id, record.id)).revokedAt, revoked.revokedAt)
      }))

    it.effect("deletes keys that were revoked long ago, and rejects them as before", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        // Deletes the keys of other tests.
        yield* TestClock.adjust("1 second")
        yield* host.deleteRevokedKeys(0, 1_000)
        const { account, key, record } = yield* makeKey(host)
        const kept = yield* host.createKey(account.id, "kept")
        yield* host.revokeKey(account.id, record.id)
        yield* TestClock.adjust("90 days")
        assert.strictEqual(yield* host.deleteRevokedKeys("90 days", 10), 0)
        yield* TestClock.adjust("1 second")
        const counts = yield* Effect.all(
          [host.deleteRevokedKeys("90 days", 10), host.deleteRevokedKeys("90 days", 10)],
          {
            concurrency: "unbounded"
          }
        )
        assert.strictEqual(counts[0] + counts[1], 1)
        assert.deepStrictEqual((yield* host.listKeys(account.id)).map(({ id }) => id), [kept.record.id])
        assert.isFalse(yield* isKnown(host, key))
        assert.isTrue(yield* isKnown(host, kept.key))
        assert.strictEqual(yield* reasonOf(host.revokeKey(account.id, record.id)), "KeyNotFound")
      }))

    it.effect("revokes a key immediately on this host, and within 5 seconds on another", () =>
      Effect.gen(function*() {
        const [here, there] = [yield* makeHost(), yield* makeHost()]
        const { account, key, record } = yield* makeKey(here)
        assert.isTrue(yield* isKnown(here, key))
        assert.isTrue(yield* isKnown(there, key))
        yield* here.revokeKey(account.id, record.id)
        assert.isFalse(yield* isKnown(here, key))
        yield* TestClock.adjust("4999 millis")
        assert.isTrue(yield* isKnown(there, key))
        yield* TestClock.adjust("1 millis")
        assert.isFalse(yield* isKnown(there, key))
      }))

    it.effect("suspends and resumes immediately on this host, and within 5 seconds on another", () =>
      Effect.gen(function*() {
        const [here, there] = [yield* makeHost(), yield* makeHost()]
        const { account, key } = yield* makeKey(here)
        const statusAt = (host: Accounts.Accounts["Service"]) =>
          Effect.map(host.authenticate(key), (identity) => Option.getOrThrow(identity).account.status)
        assert.strictEqual(yield* statusAt(here), "active")
        assert.strictEqual(yield* statusAt(there), "active")
        assert.strictEqual((yield* here.suspend(account.id)).status, "suspended")
        assert.strictEqual(yield* statusAt(here), "suspended")
        yield* TestClock.adjust("5 seconds")
        assert.strictEqual(yield* statusAt(there), "suspended")
        assert.strictEqual((yield* there.resume(account.id)).status, "active")
        assert.strictEqual(yield* statusAt(there), "active")
      }))

    it.effect("sets, replaces and removes the plans of each group", () =>
      Effect.gen(function*() {
        const [here, there] = [yield* makeHost(), yield* makeHost()]
        const { account, key } = yield* makeKey(here)
        const plansAt = (host: Accounts.Accounts["Service"]) =>
          Effect.map(host.authenticate(key), (identity) => Option.getOrThrow(identity).account.plans)
        yield* plansAt(there)
        const later = DateTime.add(yield* DateTime.now, { days: 30 })
        const scale = Option.some({ tier: "scale", periodEnd: later, autoRenew: false } as const)

        yield* here.setPlan(account.id, "studio", pro(later))
        yield* here.setPlan(account.id, "credits", pro(later))
        yield* here.setPlan(account.id, "studio", scale)
        assert.deepStrictEqual(yield* plansAt(here), { studio: scale, credits: pro(later) })
        yield* TestClock.adjust("5 seconds")
        assert.deepStrictEqual(yield* plansAt(there), { studio: scale, credits: pro(later) })

        yield* here.setPlan(account.id, "credits", Option.none())
        yield* here.setPlan(account.id, "credits", Option.none())
        assert.deepStrictEqual(yield* here.plans(account.id), { studio: scale, credits: Option.none() })
      }))

    it.effect("keeps the cache when the unit that revoked a key rolls back", () =>
      Effect.gen(function*() {
        const { atomically } = yield* UnitOfWork.UnitOfWork
        const { host: makeSpied, lookUps } = yield* makeSpy()
        const host = yield* makeSpied()
        const { account, key, record } = yield* makeKey(host)
        assert.isTrue(yield* isKnown(host, key))
        yield* Effect.flip(atomically(Effect.andThen(host.revokeKey(account.id, record.id), Effect.fail("no"))))
        assert.isTrue(yield* isKnown(host, key))
        assert.strictEqual(lookUps.length, 1)
        yield* TestClock.adjust("5 seconds")
        assert.isTrue(yield* isKnown(host, key))
        assert.strictEqual(lookUps.length, 2)
      }))

    it.effect("does not cache what was read in a unit that rolls back", () =>
      Effect.gen(function*() {
        const { atomically } = yield* UnitOfWork.UnitOfWork
        const host = yield* makeHost()
        const account = yield* makeAccount(host)
        const made: Array<Redacted.Redacted> = []
        yield* Effect.flip(atomically(Effect.gen(function*() {
          const { key } = yield* host.createKey(account.id, "test")
          made.push(key)
          assert.isTrue(yield* isKnown(host, key))
          return yield* Effect.fail("no")
        })))
        assert.isFalse(yield* isKnown(host, made[0]!))
      }))
  })
