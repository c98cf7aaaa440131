import { assert, layer } from "@effect/vitest"
import { StorageError, type UnitOfWork } from "@kinora/persistence"
import { DateTime, Effect, Exit, Layer, Option, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { TestClock } from "effect/testing"
import { OperatorId } from "../src/Operator.ts"
import { OperatorStore } from "../src/OperatorStore.ts"
import * as OperatorToken from "../src/OperatorToken.ts"
import { makeHost, reasonOf, resultOf } from "./Hosts.ts"

/** The contract of operators, for every store. */
export const suite = <E>(name: string, backend: Layer.Layer<OperatorStore | UnitOfWork.UnitOfWork, E>) =>
  layer(Layer.merge(backend, SecureRandom.layerWebCrypto))(`Operators (${name})`, (it) => {
    it.effect("creates operators and authenticates their tokens on every host", () =>
      Effect.gen(function*() {
        const [here, there] = [yield* makeHost(), yield* makeHost()]
        const { operator, token } = yield* here.create({ name: "Ada", role: "support" })
        assert.strictEqual(operator.role, "support")
        assert.strictEqual(operator.prefix, OperatorToken.prefix(token))
        assert.deepStrictEqual(yield* there.get(operator.id), operator)
        assert.deepStrictEqual(yield* there.authenticate(token), operator)
      }))

    it.effect("rejects unknown and malformed tokens", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const { token } = yield* host.create({ name: "Ada", role: "owner" })
        const text = Redacted.value(token)
        const other = text.endsWith("0") ? "1" : "0"
        for (const wrong of ["", "kop_", text.slice(0, -1), `${text}0`, `${text.slice(0, -1)}${other}`]) {
          assert.strictEqual(yield* resultOf(host, Redacted.make(wrong)), "unknown", wrong)
        }
        assert.strictEqual(yield* resultOf(host, yield* OperatorToken.make), "unknown")
      }))

    it.effect("rejects invalid names, times of expiry and overlaps", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const role = "auditor"
        for (const name of ["", " ", "a\nb", "\udc00", "a".repeat(101)]) {
          assert.strictEqual(yield* reasonOf(host.create({ name, role })), "NameInvalid")
        }
        const now = yield* DateTime.now
        assert.strictEqual(yield* reasonOf(host.create({ name: "a", role, expiresAt: now })), "ExpiryInvalid")
        const { operator, token } = yield* host.create({ name: "a".repeat(100), role })
        for (const overlap of ["-1 millis", "2592001 seconds"] as const) {
          assert.strictEqual(yield* reasonOf(host.rotate(operator.id, { overlap })), "OverlapInvalid")
        }
        assert.strictEqual(yield* resultOf(host, token), operator.id)
      }))

    it.effect("rejects a token from its expiry on", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const expiresAt = DateTime.add(yield* DateTime.now, { hours: 1 })
        const { operator, token } = yield* host.create({ name: "Ada", role: "operator", expiresAt })
        yield* TestClock.adjust("3599999 millis")
        assert.strictEqual(yield* resultOf(host, token), operator.id)
        yield* TestClock.adjust("1 millis")
        assert.strictEqual(yield* resultOf(host, token), "expired")
        assert.strictEqual(yield* reasonOf(host.rotate(operator.id)), "OperatorEnded")
      }))

    it.effect("accepts the former token until the overlap ends", () =>
      Effect.gen(function*() {
        const [here, there] = [yield* makeHost(), yield* makeHost()]
        const { operator, token: first } = yield* here.create({ name: "Ada", role: "operator" })
        const { operator: rotated, token: second } = yield* here.rotate(operator.id)
        assert.strictEqual(rotated.prefix, OperatorToken.prefix(second))
        assert.deepStrictEqual(yield* there.get(operator.id), rotated)
        yield* TestClock.adjust("86399999 millis")
        assert.strictEqual(yield* resultOf(there, first), operator.id)
        yield* TestClock.adjust("1 millis")
        assert.strictEqual(yield* resultOf(there, first), "expired")
        assert.strictEqual(yield* resultOf(there, second), operator.id)

        const { token: third } = yield* here.rotate(operator.id, { overlap: "30 days" })
        const { token: fourth } = yield* here.rotate(operator.id, { overlap: 0 })
        assert.strictEqual(yield* resultOf(there, second), "unknown")
        assert.strictEqual(yield* resultOf(there, third), "expired")
        assert.strictEqual(yield* resultOf(there, fourth), operator.id)
      }))

    it.effect("revokes all tokens of an operator on every host at once", () =>
      Effect.gen(function*() {
        const [here, there] = [yield* makeHost(), yield* makeHost()]
        const { operator, token: first } = yield* here.create({ name: "Ada", role: "operator" })
        const { token: second } = yield* here.rotate(operator.id)
        assert.strictEqual(yield* resultOf(there, first), operator.id)
        const revoked = yield* here.revoke(operator.id)
        assert.strictEqual(yield* resultOf(there, first), "revoked")
        assert.strictEqual(yield* resultOf(there, second), "revoked")
        yield* TestClock.adjust("1 minute")
        assert.deepStrictEqual((yield* there.revoke(operator.id)).revokedAt, revoked.revokedAt)
        assert.strictEqual(yield* reasonOf(here.rotate(operator.id)), "OperatorEnded")
      }))

    it.effect("fails for operators that do not exist", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const id = yield* OperatorId.make
        assert.strictEqual(yield* reasonOf(host.get(id)), "OperatorNotFound")
        assert.strictEqual(yield* reasonOf(host.rotate(id)), "OperatorNotFound")
        assert.strictEqual(yield* reasonOf(host.revoke(id)), "OperatorNotFound")
      }))

    it.effect("never exceeds operatorsMax with concurrent calls, not counting revoked and expired ones", () =>
      Effect.gen(function*() {
        const before = yield* makeHost()
        yield* Effect.forEach(yield* before.list, ({ id }) => before.revoke(id))
        const hosts = [yield* makeHost({ operatorsMax: 3 }), yield* makeHost({ operatorsMax: 3 })] as const
        const expiresAt = DateTime.add(yield* DateTime.now, { minutes: 1 })
        const exits = yield* Effect.forEach(
          Array.from({ length: 8 }, (_, index) => hosts[index % 2]!),
          (host) => Effect.exit(host.create({ name: "Ada", role: "owner", expiresAt })),
          { concurrency: "unbounded" }
        )
        const made = exits.filter(Exit.isSuccess).map(({ value }) => value.operator)
        assert.strictEqual(made.length, 3)
        const another = hosts[0].create({ name: "Ada", role: "owner" })
        assert.strictEqual(yield* reasonOf(another), "TooManyOperators")
        yield* hosts[1].revoke(made[0]!.id)
        yield* another
        assert.strictEqual(yield* reasonOf(another), "TooManyOperators")
        yield* TestClock.adjust("1 minute")
        yield* another
      }))

    it.effect("lists operators that are not revoked before revoked ones, newest first", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        for (const name of ["list a", "list b", "list c"]) {
          yield* TestClock.adjust("1 second")
          yield* host.create({ name, role: "auditor" })
        }
        const names = Effect.map(host.list, (all) =>
          all.map(({ name }) => name).filter((name) => name.startsWith("list")))
        assert.deepStrictEqual(yield* names, ["list c", "list b", "list a"])
        yield* host.revoke(
          (yield* host.list).find(({ name }) =>
            name === "list b"
          )!.id
        )
        assert.deepStrictEqual(yield* names, ["list c", "list a", "list b"])
      }))

    it.effect("records a use at most once a minute", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const { operator, token } = yield* host.create({ name: "Ada", role: "support" })
        const usedAfter = Effect.fnUntraced(function*(millis: number) {
          yield* TestClock.adjust(millis)
          yield* host.authenticate(token)
          return Option.getOrThrow((yield* host.get(operator.id)).lastUsedAt)
        })
        const first = yield* usedAfter(0)
        assert.deepStrictEqual(yield* usedAfter(59_999), first)
        assert.deepStrictEqual(yield* usedAfter(1), DateTime.add(first, { minutes: 1 }))
        const store = yield* OperatorStore
        yield* store.noteUse(operator.id, DateTime.add(first, { seconds: 90 }))
        assert.deepStrictEqual(
          (yield* host.get(operator.id)).lastUsedAt,
          Option.some(DateTime.add(first, { minutes: 1 }))
        )
      }))

    it.effect("authenticates if the use cannot be recorded, and fails if the store cannot be read", () =>
      Effect.gen(function*() {
        const store = yield* OperatorStore
        const failure = new StorageError.StorageError({ operation: "test", reason: "unavailable", cause: "test" })
        const over = (store: OperatorStore["Service"]) => Effect.provideService(makeHost(), OperatorStore, store)
        const noting = yield* over({ ...store, noteUse: () => Effect.fail(failure) })
        const { operator, token } = yield* noting.create({ name: "Ada", role: "owner" })
        assert.strictEqual(yield* resultOf(noting, token), operator.id)
        const reading = yield* over({ ...store, findOwner: () => Effect.fail(failure) })
        assert.strictEqual(yield* Effect.flip(reading.authenticate(token)), failure)
      }))
  })
