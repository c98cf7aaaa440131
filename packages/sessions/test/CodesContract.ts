import { assert, layer } from "@effect/vitest"
import { StorageError, UnitOfWork } from "@kinora/persistence"
import { DateTime, Effect, Exit, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { TestClock } from "effect/testing"
import { SessionStore } from "../src/SessionStore.ts"
import * as SessionToken from "../src/SessionToken.ts"
import { browser, makeHost, memberOf, operatorOf, reasonOf, resultOf } from "./Hosts.ts"

/** The contract of sign-in codes, for every store. */
export const suite = <E>(name: string, backend: Layer.Layer<SessionStore | UnitOfWork.UnitOfWork, E>) =>
  layer(Layer.merge(backend, SecureRandom.layerWebCrypto))(`Sign-in codes (${name})`, (it) => {
    it.effect("start a session of their grant on every host, once", () =>
      Effect.gen(function*() {
        const [here, there] = [yield* makeHost(), yield* makeHost()]
        const grant = memberOf("codes-1")
        const { code, expiresAt } = yield* here.createCode(grant)
        assert.deepStrictEqual(expiresAt, DateTime.add(yield* DateTime.now, { minutes: 10 }))
        const { session, token } = yield* there.redeem(code, browser)
        assert.deepStrictEqual(session.grant, grant)
        assert.strictEqual(yield* resultOf(here, token), session.id)
        for (const host of [here, there]) {
          assert.strictEqual((yield* Effect.flip(host.redeem(code, browser)))._tag, "CodeRejected")
        }
        assert.strictEqual((yield* here.list(grant)).length, 1)
      }))

    it.effect("start one session if they are redeemed concurrently", () =>
      Effect.gen(function*() {
        const hosts = [yield* makeHost(), yield* makeHost()] as const
        const grant = operatorOf("codes-2")
        const { code } = yield* hosts[0].createCode(grant)
        const exits = yield* Effect.forEach(
          Array.from({ length: 8 }, (_, index) => hosts[index % 2]!),
          (host) => Effect.exit(host.redeem(code, browser)),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(exits.filter(Exit.isSuccess).length, 1)
        assert.strictEqual((yield* hosts[0].list(grant)).length, 1)
      }))

    it.effect("are rejected from their expiry on, and if they are malformed or unknown", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const { code } = yield* host.createCode(memberOf("codes-3"))
        const { code: late } = yield* host.createCode(memberOf("codes-3"))
        yield* TestClock.adjust("599999 millis")
        yield* host.redeem(code, browser)
        yield* TestClock.adjust("1 millis")
        const rejected = (code: Redacted.Redacted) =>
          Effect.map(Effect.flip(host.redeem(code, browser)), (error) =>
            error._tag === "CodeRejected" ? error.reason : error._tag)
        assert.strictEqual(yield* rejected(late), "expired")
        assert.strictEqual(yield* rejected(yield* SessionToken.make), "unknown")
        for (const text of ["", "0", `${Redacted.value(late)}0`, "g".repeat(64)]) {
          assert.strictEqual(yield* rejected(Redacted.make(text)), "unknown", text)
        }
      }))

    it.effect("can be redeemed again if the session was not stored, and after a rollback", () =>
      Effect.gen(function*() {
        const store = yield* SessionStore
        const { atomically } = yield* UnitOfWork.UnitOfWork
        const failure = new StorageError.StorageError({ operation: "test", reason: "failed", cause: "test" })
        const host = yield* makeHost()
        const broken = yield* Effect.provideService(makeHost(), SessionStore, {
          ...store,
          insertSession: () => Effect.fail(failure)
        })
        const grant = memberOf("codes-4")
        const { code } = yield* host.createCode(grant)
        assert.strictEqual(yield* Effect.flip(broken.redeem(code, browser)), failure)
        assert.strictEqual(
          yield* Effect.flip(atomically(Effect.andThen(host.redeem(code, browser), Effect.fail("rolled back")))),
          "rolled back"
        )
        assert.isEmpty(yield* host.list(grant))
        yield* host.redeem(code, browser)
        assert.strictEqual((yield* host.list(grant)).length, 1)
      }))

    it.effect("never exceed codesMax with concurrent calls, not counting used and expired ones", () =>
      Effect.gen(function*() {
        const hosts = [yield* makeHost({ codesMax: 3 }), yield* makeHost({ codesMax: 3 })] as const
        const grant = memberOf("codes-5")
        const exits = yield* Effect.forEach(
          Array.from({ length: 8 }, (_, index) => hosts[index % 2]!),
          (host) => Effect.exit(host.createCode(grant)),
          { concurrency: "unbounded" }
        )
        const made = exits.filter(Exit.isSuccess).map(({ value }) => value)
        assert.strictEqual(made.length, 3)
        const another = hosts[0].createCode(grant)
        assert.strictEqual(yield* reasonOf(another), "TooManyCodes")
        yield* hosts[1].redeem(made[0]!.code, browser)
        yield* another
        assert.strictEqual(yield* reasonOf(another), "TooManyCodes")
        yield* hosts[0].createCode(memberOf("codes-6"))
        yield* TestClock.adjust("10 minutes")
        yield* another
      }))

    it.effect("are deleted with the sessions of their account", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const { code } = yield* host.createCode(memberOf("codes-7"))
        yield* host.endAll({ account: "codes-7" })
        assert.strictEqual((yield* Effect.flip(host.redeem(code, browser)))._tag, "CodeRejected")
      }))
  })
