import { assert, layer } from "@effect/vitest"
import { StorageError, UnitOfWork } from "@kinora/persistence"
import { DateTime, Deferred, Effect, Exit, Fiber, Layer, Option, Queue, Redacted, Scope } from "effect"
import { SecureRandom } from "effect/crypto"
import { TestClock } from "effect/testing"
import { AccountId } from "../src/Account.ts"
import * as Accounts from "../src/Accounts.ts"
import { AccountStore } from "../src/AccountStore.ts"
import * as ApiKey from "../src/ApiKey.ts"

/** One host over the store of the suite. */
const makeHost = Accounts.make

/** The store, with a record of what it was asked and a way to meddle. */
const makeSpy = Effect.fnUntraced(function*(meddle: Partial<AccountStore["Service"]> = {}) {
  const store = yield* AccountStore
  const lookUps: Array<ReadonlyArray<string>> = []
  const writes: Array<ReadonlyArray<string>> = []
  const written = yield* Queue.unbounded<void>()
  const spied: AccountStore["Service"] = {
    ...store,
    ...meddle,
    findOwners: (hashes) => {
      lookUps.push(hashes)
      return (meddle.findOwners ?? store.findOwners)(hashes)
    },
    noteUses: (uses) => {
      writes.push(uses.map(({ key }) => key))
      return Effect.onExit((meddle.noteUses ?? store.noteUses)(uses), () => Queue.offer(written, undefined))
    }
  }
  const host = (options?: Accounts.AccountsOptions) => Effect.provideService(makeHost(options), AccountStore, spied)
  return { host, lookUps, writes, written: Queue.take(written) }
})

let accountsMade = 0

const makeAccount = (host: Accounts.Accounts["Service"]) => host.create({ email: `user-${++accountsMade}@example.com` })

const makeKey = Effect.fnUntraced(function*(host: Accounts.Accounts["Service"]) {
  const account = yield* makeAccount(host)
  const { key, record } = yield* host.createKey(account.id, "test")
  return { account, key, record }
})

const makeKeys = (host: Accounts.Accounts["Service"], count: number) =>
  Effect.forEach(Array.from({ length: count }), () => makeKey(host))

const reasonOf = <A>(effect: Effect.Effect<A, Accounts.Failure>) =>
  Effect.map(Effect.flip(effect), (error) => error._tag === "AccountsError" ? error.reason._tag : error._tag)

const isKnown = (host: Accounts.Accounts["Service"], key: Redacted.Redacted) =>
  Effect.map(host.authenticate(key), Option.isSome)

const pro = (periodEnd: DateTime.Utc) => Option.some({ tier: "pro", periodEnd, autoRenew: true } as const)

/** What accounts promise over every store. */
export const suite = <E>(name: string, backend: Layer.Layer<AccountStore | UnitOfWork.UnitOfWork, E>) =>
  layer(Layer.merge(backend, SecureRandom.layerWebCrypto))(`Accounts (${name})`, (it) => {
    it.effect("makes accounts, active and without a plan", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const account = yield* host.create({ email: "Ada@Example.com" })
        assert.strictEqual(account.status, "active")
        assert.isTrue(Option.isNone(account.plans.studio) && Option.isNone(account.plans.credits))
        assert.deepStrictEqual(yield* host.get(account.id), account)
        assert.deepStrictEqual(yield* host.findByEmail("ada@example.COM"), Option.some(account))
        assert.isTrue(Option.isNone(yield* host.findByEmail("nobody@example.com")))
      }))

    it.effect("gives an address to one account only, whatever its case and however many ask at once", () =>
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

    it.effect("makes many accounts at once", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const accounts = yield* Effect.forEach(Array.from({ length: 40 }), () => makeAccount(host), {
          concurrency: "unbounded"
        })
        assert.strictEqual(new Set(accounts.map(({ id }) => id)).size, 40)
      }))

    it.effect("refuses what is no address", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        for (const email of ["", "a", "@b", "a@", "a b@c", "a@b@c", "a\0@b", "\ud800@b", `${"a".repeat(253)}@b`]) {
          assert.strictEqual(yield* reasonOf(host.create({ email })), "EmailInvalid")
        }
      }))

    it.effect("knows no account and no key that does not exist", () =>
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
      }))

    it.effect("tells whose key it is", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const { account, key, record } = yield* makeKey(host)
        assert.deepStrictEqual(yield* host.authenticate(key), Option.some({ account, keyId: record.id }))
        assert.strictEqual(record.prefix, ApiKey.prefix(key))
        assert.strictEqual(record.name, "test")
      }))

    it.effect("refuses names that cannot be shown", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const account = yield* makeAccount(host)
        for (const name of ["", " ", "a\nb", "a\0", "\udc00", "a".repeat(ApiKey.nameCharsMax + 1)]) {
          assert.strictEqual(yield* reasonOf(host.createKey(account.id, name)), "KeyNameInvalid")
        }
      }))

    it.effect("keeps an account to its number of keys, however many are asked for at once", () =>
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

    it.effect("lists keys that count before revoked ones, newest first", () =>
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
        const revoked = yield* host.revokeKey(account.id, record.id)
        assert.isTrue(Option.isSome(revoked.revokedAt))
        yield* TestClock.adjust("1 minute")
        assert.deepStrictEqual((yield* host.revokeKey(account.id, record.id)).revokedAt, revoked.revokedAt)
      }))

    it.effect("has a revocation take effect here at once, and on another host within 5 seconds (D3)", () =>
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

    it.effect("has a suspension and its end take effect here at once, and on another host within 5 seconds", () =>
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

    it.effect("has plans that are set, replaced and ended, group by group", () =>
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

    it.effect("forgets nothing when the unit that revoked a key rolls back", () =>
      Effect.gen(function*() {
        const { atomically } = yield* UnitOfWork.UnitOfWork
        const host = yield* makeHost()
        const { account, key, record } = yield* makeKey(host)
        yield* Effect.flip(atomically(Effect.andThen(host.revokeKey(account.id, record.id), Effect.fail("no"))))
        assert.isTrue(yield* isKnown(host, key))
        yield* TestClock.adjust("5 seconds")
        assert.isTrue(yield* isKnown(host, key))
      }))

    it.effect("does not remember what it read in a unit that rolls back", () =>
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

    it.effect("refuses malformed keys without asking the store", () =>
      Effect.gen(function*() {
        const { host: makeHost, lookUps } = yield* makeSpy()
        const host = yield* makeHost()
        for (const text of ["", "kin_", "x".repeat(53), `kin_${"0".repeat(49)}`]) {
          assert.isFalse(yield* isKnown(host, Redacted.make(text)))
        }
        assert.deepStrictEqual(lookUps, [])
      }))

    it.effect("asks the store once for a key that is used often, known or not", () =>
      Effect.gen(function*() {
        const { host: makeHost, lookUps } = yield* makeSpy()
        const host = yield* makeHost()
        const { key } = yield* makeKey(host)
        const unknown = yield* ApiKey.make
        for (let use = 0; use < 100; use++) {
          assert.isTrue(yield* isKnown(host, key))
          assert.isFalse(yield* isKnown(host, unknown))
        }
        assert.deepStrictEqual(lookUps, [[ApiKey.hash(key)], [ApiKey.hash(unknown)]])
        yield* TestClock.adjust("5 seconds")
        yield* isKnown(host, unknown)
        assert.strictEqual(lookUps.length, 3)
      }))

    it.effect("asks in one statement for the keys that wait together, and for each key once", () =>
      Effect.gen(function*() {
        const asked = yield* Deferred.make<void>()
        const gate = yield* Deferred.make<void>()
        const store = yield* AccountStore
        const { host: makeHost, lookUps } = yield* makeSpy({
          findOwners: (hashes) =>
            Deferred.succeed(asked, undefined).pipe(
              Effect.andThen(Deferred.await(gate)),
              Effect.andThen(store.findOwners(hashes))
            )
        })
        const host = yield* makeHost()
        const keys = yield* makeKeys(host, 21)
        const busy = yield* Effect.forEach(
          keys.slice(0, 2),
          ({ key }) => Effect.forkChild(host.authenticate(key), { startImmediately: true })
        )
        yield* Deferred.await(asked)
        const waiting = yield* Effect.forEach(
          [...keys, ...keys],
          ({ key }) => Effect.forkChild(host.authenticate(key), { startImmediately: true })
        )
        yield* Deferred.succeed(gate, undefined)
        yield* Effect.forEach(busy, Fiber.join)
        const identities = yield* Effect.forEach(waiting, Fiber.join)
        assert.deepStrictEqual(
          identities.map((identity) => Option.getOrThrow(identity).account.id),
          [...keys, ...keys].map(({ account }) => account.id)
        )
        assert.isAtMost(lookUps.length, 3)
        assert.strictEqual(lookUps.at(-1)?.length, new Set(lookUps.at(-1)).size)
        assert.isAtLeast(lookUps.at(-1)?.length ?? 0, 19)
      }))

    it.effect("remembers a bounded number of keys, and made-up keys drive out no real ones", () =>
      Effect.gen(function*() {
        const { host: makeHost, lookUps } = yield* makeSpy()
        const host = yield* makeHost({ keysCachedMax: 2 })
        const [first, second, third] = yield* makeKeys(host, 3)
        yield* isKnown(host, second!.key)
        yield* isKnown(host, third!.key)
        for (let attempt = 0; attempt < 5; attempt++) yield* isKnown(host, yield* ApiKey.make)
        lookUps.length = 0
        assert.isTrue(yield* isKnown(host, second!.key))
        assert.isTrue(yield* isKnown(host, third!.key))
        assert.deepStrictEqual(lookUps, [])
        yield* isKnown(host, first!.key)
        yield* isKnown(host, second!.key)
        assert.deepStrictEqual(lookUps, [[ApiKey.hash(first!.key)], [ApiKey.hash(second!.key)]])
      }))

    it.effect("does not remember a key that was revoked while it was looked up", () =>
      Effect.gen(function*() {
        const read = yield* Deferred.make<void>()
        const gate = yield* Deferred.make<void>()
        const store = yield* AccountStore
        const { host: makeHost } = yield* makeSpy({
          findOwners: (hashes) =>
            store.findOwners(hashes).pipe(
              Effect.tap(() => Deferred.succeed(read, undefined)),
              Effect.tap(() => Deferred.await(gate))
            )
        })
        const host = yield* makeHost()
        const { account, key, record } = yield* makeKey(host)
        const early = yield* Effect.forkChild(host.authenticate(key))
        yield* Deferred.await(read)
        yield* host.revokeKey(account.id, record.id)
        yield* Deferred.succeed(gate, undefined)
        yield* Fiber.join(early)
        assert.isFalse(yield* isKnown(host, key))
      }))

    it.effect("counts the age of an answer from before it was read", () =>
      Effect.gen(function*() {
        const read = yield* Deferred.make<void>()
        const gate = yield* Deferred.make<void>()
        const store = yield* AccountStore
        const { host: makeHost } = yield* makeSpy({
          findOwners: (hashes) =>
            store.findOwners(hashes).pipe(
              Effect.tap(() => Deferred.succeed(read, undefined)),
              Effect.tap(() => Deferred.await(gate))
            )
        })
        const [here, slow] = [yield* Accounts.make(), yield* makeHost()]
        const { account, key, record } = yield* makeKey(here)
        const early = yield* Effect.forkChild(slow.authenticate(key))
        yield* Deferred.await(read)
        yield* here.revokeKey(account.id, record.id)
        yield* TestClock.adjust("5 seconds")
        yield* Deferred.succeed(gate, undefined)
        yield* Fiber.join(early)
        assert.isFalse(yield* isKnown(slow, key))
      }))

    it.effect("fails, and remembers nothing, when the store does not answer", () =>
      Effect.gen(function*() {
        const store = yield* AccountStore
        let isDown = true
        const { host: makeHost } = yield* makeSpy({
          findOwners: (hashes) =>
            isDown
              ? Effect.fail(new StorageError.StorageError({ operation: "test", reason: "unavailable", cause: "test" }))
              : store.findOwners(hashes)
        })
        const host = yield* makeHost()
        const { key } = yield* makeKey(host)
        assert.instanceOf(yield* Effect.flip(host.authenticate(key)), StorageError.StorageError)
        isDown = false
        assert.isTrue(yield* isKnown(host, key))
      }))

    it.effect("notes uses once a minute, in one statement for many keys, off the request's way", () =>
      Effect.gen(function*() {
        const { host: makeHost, writes, written } = yield* makeSpy()
        const host = yield* makeHost()
        const keys = yield* makeKeys(host, 5)
        const usedAt = yield* DateTime.now
        const useAll = Effect.forEach(keys, ({ key }) => isKnown(host, key), { discard: true })
        for (let second = 0; second < 60; second++) {
          yield* useAll
          yield* TestClock.adjust("1 second")
        }
        yield* written
        assert.deepStrictEqual(writes, [keys.map(({ record }) => record.id)])
        for (const { account } of keys) {
          assert.deepStrictEqual((yield* host.listKeys(account.id))[0]?.lastUsedAt, Option.some(usedAt))
        }
        yield* useAll
        yield* TestClock.adjust("10 seconds")
        yield* written
        assert.strictEqual(writes.length, 2)
      }))

    it.effect("notes a use once a minute over all hosts", () =>
      Effect.gen(function*() {
        const store = yield* AccountStore
        const host = yield* makeHost()
        const { account, record } = yield* makeKey(host)
        const start = yield* DateTime.now
        const noteAfter = (seconds: number) =>
          store.noteUses([{ key: record.id, at: DateTime.add(start, { seconds }) }]).pipe(
            Effect.andThen(host.listKeys(account.id)),
            Effect.map((keys) => DateTime.toEpochMillis(Option.getOrThrow(keys[0]!.lastUsedAt)))
          )
        const first = yield* noteAfter(0)
        assert.strictEqual(yield* noteAfter(59), first)
        assert.strictEqual(yield* noteAfter(60), first + 60_000)
        assert.strictEqual(yield* noteAfter(30), first + 60_000)
      }))

    it.effect("goes on when uses cannot be written, and notes the next one again", () =>
      Effect.gen(function*() {
        let isBroken = true
        const { host: makeHost, writes, written } = yield* makeSpy({
          noteUses: () => isBroken ? Effect.die("the store is broken") : Effect.void
        })
        const host = yield* makeHost()
        const { key } = yield* makeKey(host)
        yield* isKnown(host, key)
        yield* TestClock.adjust("10 seconds")
        yield* written
        isBroken = false
        assert.isTrue(yield* isKnown(host, key))
        yield* TestClock.adjust("10 seconds")
        yield* written
        assert.strictEqual(writes.length, 2)
      }))

    it.effect("writes the uses that it has collected when the host stops", () =>
      Effect.gen(function*() {
        const scope = yield* Scope.make()
        const host = yield* Scope.provide(makeHost(), scope)
        const { account, key } = yield* makeKey(host)
        yield* isKnown(host, key)
        yield* Scope.close(scope, Exit.void)
        assert.isTrue(Option.isSome((yield* host.listKeys(account.id))[0]!.lastUsedAt))
      }))
  })
