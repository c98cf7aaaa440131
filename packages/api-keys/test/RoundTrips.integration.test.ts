/** Statements and round trips of keys. */
import { assert, it } from "@effect/vitest"
import { Pipelining } from "@kinora/persistence"
import { RoundTrips } from "@kinora/testkit"
import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import * as ApiKeys from "../src/ApiKeys.ts"
import { makeKeys } from "../src/internal/contract/hosts.ts"
import * as Backend from "./Backend.ts"

const bounds = {
  verify: { statements: 1, roundTrips: 1, writesAfterLock: 0, writesAfterRead: 0 },
  verifyCached: { statements: 0, roundTrips: 0, writesAfterLock: 0, writesAfterRead: 0 },
  // BEGIN, the lock of the owner and the number of its keys, then the key and COMMIT.
  create: { statements: 5, roundTrips: 2, writesAfterLock: 1, writesAfterRead: 1 },
  // Also the former key, and its new expiry.
  roll: { statements: 7, roundTrips: 2, writesAfterLock: 1, writesAfterRead: 1 },
  rename: { statements: 5, roundTrips: 2, writesAfterLock: 1, writesAfterRead: 1 },
  revoke: { statements: 3, roundTrips: 2, writesAfterLock: 1, writesAfterRead: 1 }
}

it.live("a set of keys that are not cached costs one statement, cached ones none, and a change two round trips", () =>
  Effect.gen(function*() {
    const { costOf, database } = yield* RoundTrips.makeWith(Pipelining.over)
    yield* Effect.gen(function*() {
      const host = yield* ApiKeys.make({ usesWrittenWithin: "1 hour" })
      const made = yield* makeKeys(host, 21)
      const { key, record: { id, owner } } = made[0]!
      const verify = yield* costOf(host.verify(key))
      const verifyCached = yield* costOf(host.verify(key))
      // Two sets run at once, with the first key of each. The third collects the others meanwhile.
      const set = yield* costOf(
        Effect.forEach(made.slice(1), ({ key }) => host.verify(key), { concurrency: "unbounded" })
      )
      assert.isAtMost(set.statements, 3)
      const costs = {
        verify,
        verifyCached,
        create: yield* costOf(host.create({ owner, name: "laptop" })),
        roll: yield* costOf(host.roll({ owner, id, overlap: "1 hour" })),
        rename: yield* costOf(host.rename(owner, id, "renamed")),
        revoke: yield* costOf(host.revoke(owner, id))
      }
      assert.deepStrictEqual(costs, bounds)
    }).pipe(Effect.scoped, Effect.provide([Backend.over(database), SecureRandom.layerWebCrypto]))
  }).pipe(Effect.scoped))
