import { assert, layer } from "@effect/vitest"
import { Migrations, Pipelining, UnitOfWork } from "@kinora/persistence"
import { TestDatabase } from "@kinora/testkit"
import { Effect, Layer, Option, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as Accounts from "../src/Accounts.ts"
import * as SqlAccountStore from "../src/SqlAccountStore.ts"
import * as AccountsContract from "./AccountsContract.ts"
import * as AuthenticationContract from "./AuthenticationContract.ts"
import * as KeyBudgetContract from "./KeyBudgetContract.ts"
import * as KeyTermsContract from "./KeyTermsContract.ts"
import * as WalletContract from "./WalletContract.ts"

const over = (database: TestDatabase.TestDatabase) =>
  Layer.merge(SqlAccountStore.layer, UnitOfWork.layerSql).pipe(
    Layer.provideMerge(Migrations.layer(SqlAccountStore.migrations)),
    Layer.provideMerge(database)
  )

/** Every row of every table, as text. */
const dump = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const tables = yield* sql<{ readonly name: string }>`
    SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY table_name
  `
  const rows = yield* Effect.forEach(
    tables,
    ({ name }) => sql<{ readonly text: string }>`SELECT to_jsonb(found)::text AS text FROM ${sql(name)} found`
  )
  return rows.flat().map(({ text }) => text).join("\n")
})

const pipelined = over(TestDatabase.postgresWith(Pipelining.over))
KeyBudgetContract.suite("Postgres, pipelined", pipelined)
WalletContract.suite("Postgres, pipelined", pipelined)

for (const [name, database] of TestDatabase.all) {
  AccountsContract.suite(name, over(database))
  AuthenticationContract.suite(name, over(database))
  KeyBudgetContract.suite(name, over(database))
  KeyTermsContract.suite(name, over(database))
  WalletContract.suite(name, over(database))

  layer(Layer.merge(over(database), SecureRandom.layerWebCrypto))(`SqlAccountStore (${name})`, (it) => {
    it.effect("stores nothing of a key that allows its use", () =>
      Effect.gen(function*() {
        const host = yield* Accounts.make()
        const account = yield* host.create({ email: "ada@example.com" })
        const { key, record } = yield* host.createKey(account.id, "test")
        yield* host.authenticate(key)
        yield* TestClock.adjust("10 seconds")
        yield* host.revokeKey(account.id, record.id)
        const everything = yield* dump
        const text = Redacted.value(key)
        assert.include(everything, record.prefix)
        for (let length = record.prefix.length + 1; length <= text.length; length++) {
          assert.notInclude(everything, text.slice(0, length))
        }
        for (let start = 0; start + 6 <= text.length - record.prefix.length; start++) {
          assert.notInclude(everything, text.slice(record.prefix.length + start, record.prefix.length + start + 6))
        }
      }))

    it.effect("returns times as they were written", () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(Date.UTC(2031, 1, 3, 4, 5, 6, 789))
        const host = yield* Accounts.make()
        const account = yield* host.create({ email: "grace@example.com" })
        assert.deepStrictEqual(yield* host.get(account.id), account)
        const { record } = yield* host.createKey(account.id, "test")
        assert.deepStrictEqual(yield* host.listKeys(account.id), [record])
        assert.isTrue(Option.isNone(record.lastUsedAt))
      }))
  })
}
