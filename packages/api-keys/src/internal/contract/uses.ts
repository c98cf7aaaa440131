/** Tests of recorded uses of keys. */
import { assert } from "@effect/vitest"
import { DateTime, Effect, Exit, Option, Scope } from "effect"
import { KeyId } from "../../ApiKey.ts"
import { ApiKeyStore } from "../../ApiKeyStore.ts"
import { isKnown, makeHost, makeKey, makeKeys } from "./hosts.ts"
import type { Register } from "./tests.ts"

/** Registers tests of recorded uses. */
export const useTests = (test: Register): void => {
  test("records a use once a minute over all hosts", () =>
    Effect.gen(function*() {
      const store = yield* ApiKeyStore
      const host = yield* makeHost()
      const { owner, record } = yield* makeKey(host)
      const start = yield* DateTime.now
      const noteAfter = (seconds: number) =>
        store.noteUses([{ key: record.id, at: DateTime.add(start, { seconds }) }]).pipe(
          Effect.andThen(host.get(owner, record.id)),
          Effect.map(({ lastUsedAt }) => DateTime.toEpochMillis(Option.getOrThrow(lastUsedAt)))
        )
      const first = yield* noteAfter(0)
      assert.strictEqual(first, DateTime.toEpochMillis(start))
      assert.strictEqual(yield* noteAfter(59), first)
      assert.strictEqual(yield* noteAfter(60), first + 60_000)
      assert.strictEqual(yield* noteAfter(30), first + 60_000)
    }))

  test("records the use of each of many keys at its own time, and ignores keys that do not exist", () =>
    Effect.gen(function*() {
      const { noteUses } = yield* ApiKeyStore
      const host = yield* makeHost()
      const [first, second, unused] = yield* makeKeys(host, 3)
      const now = yield* DateTime.now
      const later = DateTime.add(now, { seconds: 1 })
      yield* noteUses([
        { key: first!.record.id, at: now },
        { key: yield* KeyId.make, at: now },
        { key: second!.record.id, at: later }
      ])
      const used = yield* Effect.forEach(
        [first!, second!, unused!],
        ({ owner, record }) => Effect.map(host.get(owner, record.id), ({ lastUsedAt }) => lastUsedAt)
      )
      assert.deepStrictEqual(used, [Option.some(now), Option.some(later), Option.none()])
    }))

  test("records the collected uses when the host stops", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const host = yield* Scope.provide(makeHost(), scope)
      const { key, owner } = yield* makeKey(host)
      yield* isKnown(host, key)
      yield* Scope.close(scope, Exit.void)
      assert.isTrue(Option.isSome((yield* host.list(owner))[0]!.lastUsedAt))
    }))
}
