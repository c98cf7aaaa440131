import { assert, it } from "@effect/vitest"
import { RoundTrips } from "@kinora/testkit"
import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import * as ApiKeys from "../src/ApiKeys.ts"
import { makeKeys } from "../src/internal/contract/hosts.ts"
import * as Backend from "./Backend.ts"

it.live("a set of keys that are not cached costs one statement, and cached ones none", () =>
  Effect.gen(function*() {
    const { costOf, database } = yield* RoundTrips.make
    yield* Effect.gen(function*() {
      const host = yield* ApiKeys.make({ usesWrittenWithin: "1 hour" })
      const made = yield* makeKeys(host, 21)
      const verified = yield* costOf(host.verify(made[0]!.key))
      const cached = yield* costOf(host.verify(made[0]!.key))
      // Two sets run at once, with the first key of each. The third collects the others meanwhile.
      const set = yield* costOf(
        Effect.forEach(made.slice(1), ({ key }) => host.verify(key), { concurrency: "unbounded" })
      )
      // BEGIN, the lock of the owner, the number of its keys, and COMMIT.
      const created = yield* costOf(host.create({ owner: "ada", name: "laptop" }))
      assert.deepStrictEqual([verified, cached, created].map(({ statements }) => statements), [1, 0, 5])
      assert.isAtMost(set.statements, 3)
    }).pipe(Effect.scoped, Effect.provide([Backend.over(database), SecureRandom.layerWebCrypto]))
  }).pipe(Effect.scoped))
