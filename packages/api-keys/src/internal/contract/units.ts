/** Tests of keys in units of work. */
import { assert } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { DateTime, Effect, Option, type Redacted } from "effect"
import type { ApiKeys } from "../../ApiKeys.ts"
import { ApiKeyStore } from "../../ApiKeyStore.ts"
import { isKnown, makeHost, makeKey, makeOwner } from "./hosts.ts"
import type { Register } from "./tests.ts"

/** Registers tests of units that commit or refuse. */
export const unitTests = (test: Register): void => {
  test("commits all calls of a unit together, and finds its keys in it", () =>
    Effect.gen(function*() {
      const { atomically } = yield* UnitOfWork
      const host = yield* makeHost()
      const owner = makeOwner()
      const [first, second] = yield* atomically(Effect.gen(function*() {
        const first = yield* host.create({ owner, name: "first" })
        assert.deepStrictEqual(yield* host.list(owner), [first.record])
        assert.isTrue(yield* isKnown(host, first.key))
        const second = yield* host.roll({ owner, id: first.record.id, overlap: 0 })
        assert.isFalse(yield* isKnown(host, first.key))
        return [first, second]
      }))
      assert.deepStrictEqual((yield* host.list(owner)).map(({ id }) => id), [second!.record.id, first!.record.id])
      assert.isTrue(yield* isKnown(host, second!.key))
    }))

  test("does not cache what was read in a unit that rolls back", () =>
    Effect.gen(function*() {
      const host = yield* makeHost()
      const made: Array<Redacted.Redacted> = []
      yield* undone(Effect.gen(function*() {
        const { key } = yield* makeKey(host)
        made.push(key)
        assert.isTrue(yield* isKnown(host, key))
      }))
      assert.isFalse(yield* isKnown(host, made[0]!))
    }))
}

/** Registers tests of units that roll back. */
export const undoneTests = (test: Register): void => {
  test("creates nothing in a unit that rolls back", () =>
    Effect.gen(function*() {
      const host = yield* makeHost()
      const owner = makeOwner()
      yield* undone(host.create({ owner, name: "key" }))
      assert.deepStrictEqual(yield* host.list(owner), [])
    }))

  type Key = Effect.Success<ReturnType<typeof makeKey>>

  const changes: ReadonlyArray<
    readonly [
      name: string,
      change: (host: ApiKeys["Service"], key: Key) => Effect.Effect<unknown, unknown, ApiKeyStore>
    ]
  > = [
    ["a rolled key", ({ roll }, { owner, record: { id } }) => roll({ owner, id, overlap: 0 })],
    ["a new name", ({ rename }, { owner, record: { id } }) => rename(owner, id, "renamed")],
    ["a revocation", ({ revoke }, { owner, record: { id } }) => revoke(owner, id)],
    ["the revocation of all keys", ({ revokeAll }, { owner }) => revokeAll(owner)],
    ["the erasure of an owner", ({ forget }, { owner }) => forget(owner)],
    [
      "the deletion of an ended key",
      ({ revoke }, { owner, record: { id } }) =>
        Effect.gen(function*() {
          const { deleteEnded } = yield* ApiKeyStore
          yield* revoke(owner, id)
          return yield* deleteEnded(DateTime.add(yield* DateTime.now, { seconds: 1 }), 1_000)
        })
    ],
    [
      "a recorded use",
      (_, { record }) =>
        Effect.flatMap(
          ApiKeyStore,
          ({ noteUses }) => Effect.flatMap(DateTime.now, (at) => noteUses([{ key: record.id, at }]))
        )
    ]
  ]
  for (const [name, change] of changes) {
    test(`undoes ${name} in a unit that rolls back`, () =>
      Effect.gen(function*() {
        const [host, other] = [yield* makeHost(), yield* makeHost()]
        const made = yield* makeKey(host)
        yield* undone(change(host, made))
        assert.deepStrictEqual(yield* host.list(made.owner), [made.record])
        assert.deepStrictEqual(yield* other.verify(made.key), Option.some(made.record))
      }))
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Runs an effect in a unit that rolls back. */
const undone = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  UnitOfWork.use(({ atomically }) => Effect.flip(atomically(Effect.andThen(effect, Effect.fail("undone")))))
