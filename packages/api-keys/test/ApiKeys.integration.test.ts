import { assert, layer } from "@effect/vitest"
import { Pipelining } from "@kinora/persistence"
import { TestDatabase } from "@kinora/testkit"
import { Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { makeHost, makeKey } from "../src/internal/contract/hosts.ts"
import { suite as contract } from "../src/testing.ts"
import * as Backend from "./Backend.ts"
import * as KeysContract from "./KeysContract.ts"
import * as TransactionsContract from "./TransactionsContract.ts"
import * as VerificationContract from "./VerificationContract.ts"

/** Ten per connection of the pool. */
const callersMax = 160

const pipelined = ["Postgres, pipelined", TestDatabase.postgresWith(Pipelining.over), callersMax] as const

for (const [name, database, callers] of [...TestDatabase.all, pipelined]) {
  contract(name, Backend.over(database))
  KeysContract.suite(name, Backend.over(database))
  VerificationContract.suite(name, Backend.over(database))
  TransactionsContract.suite(name, Backend.over(database), callers)

  layer(Layer.merge(Backend.over(database), SecureRandom.layerWebCrypto))(`SqlApiKeyStore (${name})`, (it) => {
    it.effect("stores nothing of a key that allows its use", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const { key, owner, record } = yield* makeKey(host)
        yield* host.verify(key)
        yield* TestClock.adjust("10 seconds")
        yield* host.revoke(owner, record.id)
        const sql = yield* SqlClient.SqlClient
        const rows = yield* sql<{ readonly text: string }>`SELECT to_jsonb(found)::text AS text FROM api_keys_key found`
        assert.strictEqual(rows.length, 1)
        const { text: everything } = rows[0]!
        const text = Redacted.value(key)
        assert.include(everything, record.prefix)
        for (let start = 0; start + 6 <= text.length - record.prefix.length; start++) {
          assert.notInclude(everything, text.slice(record.prefix.length + start, record.prefix.length + start + 6))
        }
      }))

    it.effect("stores nothing of an owner whose keys are erased", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const { owner } = yield* makeKey(host)
        const sql = yield* SqlClient.SqlClient
        const stored = sql`
          SELECT found.owner FROM api_keys_key found WHERE found.owner = ${owner}
          UNION ALL SELECT found.owner FROM api_keys_owner found WHERE found.owner = ${owner}
        `
        assert.strictEqual((yield* stored).length, 2)
        yield* host.forget(owner)
        assert.deepStrictEqual(yield* stored, [])
      }))
  })
}
