/** The table of keys, which processes of an earlier release read and write at the same time, and what its statements cost. */
import { assert, it, layer } from "@effect/vitest"
import { Migrations, Pipelining, UnitOfWork } from "@kinora/persistence"
import { RoundTrips, TestDatabase } from "@kinora/testkit"
import { DateTime, Effect, Layer, Option, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { IpNetwork } from "effect/net"
import { SqlClient } from "effect/sql"
import { AccountId } from "../src/Account.ts"
import * as Accounts from "../src/Accounts.ts"
import { KeyId } from "../src/ApiKey.ts"
import { type KeyTerms, unrestricted } from "../src/KeyTerms.ts"
import * as SqlAccountStore from "../src/SqlAccountStore.ts"
import { makeAccount, makeHost, makeKey } from "./Hosts.ts"

const over = (database: TestDatabase.TestDatabase) =>
  Layer.mergeAll(SqlAccountStore.layer, UnitOfWork.layerSql, SecureRandom.layerWebCrypto).pipe(
    Layer.provideMerge(Migrations.layer(SqlAccountStore.migrations)),
    Layer.provideMerge(database)
  )

const terms: KeyTerms = {
  expiresAt: Option.some(DateTime.makeUnsafe("2099-01-01T00:00:00Z")),
  scopes: Option.some(["read", "account:read"]),
  models: Option.some(["a", "b\"c"]),
  networks: Option.some([IpNetwork.fromStringUnsafe("192.0.2.0/24")])
}

/** The terms, as release 0.1 writes them and reads them. */
const restrictions = { scopes: ["read", "account:read"], models: ["a", "b\"c"], networks: ["192.0.2.0/24"] }

for (const [name, database] of TestDatabase.all) {
  layer(over(database))(`The table of keys (${name})`, (it) => {
    it.effect("holds the terms of a key where an earlier release reads them", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const sql = yield* SqlClient.SqlClient
        const account = yield* makeAccount(host)
        yield* host.createKey(account.id, "restricted", terms)
        const first = yield* host.createKey(account.id, "unrestricted")
        yield* host.rollKey(account.id, first.record.id, "1 hour")
        const rows = yield* sql`
          SELECT name, restrictions, expires_at = '2099-01-01T00:00:00Z' AS expires, line::text AS line
          FROM accounts_key WHERE account = ${AccountId.toUuid(account.id)}
          ORDER BY name, line NULLS FIRST
        `
        const line = KeyId.toUuid(first.record.id)
        assert.deepStrictEqual(rows, [
          { name: "restricted", restrictions, expires: true, line: null },
          { name: "unrestricted", restrictions: {}, expires: rows[1]?.["expires"], line: null },
          { name: "unrestricted", restrictions: {}, expires: null, line }
        ])
      }))

    it.effect("returns a key of an earlier release with its terms, and rolls it", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const sql = yield* SqlClient.SqlClient
        const { account, key, record } = yield* makeKey(host)
        yield* sql`
          UPDATE accounts_key SET restrictions = ${
          JSON.stringify(restrictions)
        }::text::jsonb, expires_at = '2099-01-01T00:00:00Z'
          WHERE id = ${KeyId.toUuid(record.id)}
        `
        assert.deepStrictEqual(yield* host.getKey(account.id, record.id), { ...record, terms })
        assert.deepStrictEqual(
          (yield* host.authenticate(key)).pipe(Option.map(({ terms }) => terms)),
          Option.some(terms)
        )
        assert.deepStrictEqual((yield* host.rollKey(account.id, record.id, 0)).record.terms, terms)
      }))

    it.effect("allows nothing by a scope that only a later release has", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const sql = yield* SqlClient.SqlClient
        const { account, key, record } = yield* makeKey(host)
        yield* sql`
          UPDATE accounts_key SET restrictions = '{"scopes": ["read", "later"]}' WHERE id = ${KeyId.toUuid(record.id)}
        `
        const expected: KeyTerms = { ...unrestricted, scopes: Option.some(["read"]) }
        assert.deepStrictEqual((yield* host.getKey(account.id, record.id)).terms, expected)
        assert.deepStrictEqual(Option.getOrThrow(yield* host.authenticate(key)).terms, expected)
      }))
  })
}

it.live("authentication sends one statement for a set of keys that are not cached, and none for cached ones", () =>
  Effect.gen(function*() {
    const { costOf, database } = yield* RoundTrips.makeWith(Pipelining.over)
    yield* Effect.gen(function*() {
      const host = yield* Accounts.make({ usesWrittenWithin: "1 hour" })
      const account = yield* makeAccount(host)
      const budget = { jobsPerDay: Option.some(5) }
      const { key, record } = yield* host.createKey(account.id, "limited", {}, budget)
      const authenticated = yield* costOf(host.authenticate(key))
      const cached = yield* costOf(host.authenticate(key))
      const unknown = yield* costOf(host.authenticate(Redacted.make("kin_unknown")))
      const created = yield* costOf(host.createKey(account.id, "second"))
      const rolled = yield* costOf(host.rollKey(account.id, record.id, "1 hour"))
      const none = { statements: 0, roundTrips: 0, writesAfterLock: 0, writesAfterRead: 0 }
      assert.deepStrictEqual({ authenticated, cached, unknown, created, rolled }, {
        authenticated: { ...none, statements: 1, roundTrips: 1 },
        cached: none,
        unknown: none,
        // BEGIN and the lock of the account with its row, the number of its keys, then the key and COMMIT.
        created: { statements: 6, roundTrips: 3, writesAfterLock: 2, writesAfterRead: 1 },
        // Also the former key and its new expiry, and the budget of the line.
        rolled: { statements: 9, roundTrips: 4, writesAfterLock: 3, writesAfterRead: 1 }
      })
    }).pipe(Effect.scoped, Effect.provide(over(database)))
  }).pipe(Effect.scoped))
