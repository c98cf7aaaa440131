import { assert, layer } from "@effect/vitest"
import { Migrations, Pipelining, UnitOfWork } from "@kinora/persistence"
import { TestDatabase } from "@kinora/testkit"
import { Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import * as SqlSessionStore from "../src/SqlSessionStore.ts"
import * as CodesContract from "./CodesContract.ts"
import { browser, makeHost, memberOf } from "./Hosts.ts"
import * as MembersContract from "./MembersContract.ts"
import * as SessionsContract from "./SessionsContract.ts"

const over = (database: TestDatabase.TestDatabase) =>
  Layer.merge(SqlSessionStore.layer, UnitOfWork.layerSql).pipe(
    Layer.provideMerge(Migrations.layer(SqlSessionStore.migrations)),
    Layer.provideMerge(database)
  )

const pipelined = over(TestDatabase.postgresWith(Pipelining.over))
SessionsContract.suite("Postgres, pipelined", pipelined)
CodesContract.suite("Postgres, pipelined", pipelined)

for (const [name, database] of TestDatabase.all) {
  SessionsContract.suite(name, over(database))
  CodesContract.suite(name, over(database))
  MembersContract.suite(name, over(database))

  layer(Layer.merge(over(database), SecureRandom.layerWebCrypto))(`SqlSessionStore (${name})`, (it) => {
    it.effect("stores nothing of a token or a code that allows its use", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const host = yield* makeHost()
        const { code } = yield* host.createCode(memberOf("a"))
        const { token } = yield* host.start(memberOf("a"), browser)
        const rows = yield* sql<{ readonly text: string }>`
          SELECT to_jsonb(found)::text AS text FROM sessions_session found
          UNION ALL SELECT to_jsonb(found)::text FROM sessions_code found
        `
        const everything = rows.map(({ text }) => text).join("\n")
        assert.include(everything, "Firefox")
        for (const secret of [token, code]) {
          const text = Redacted.value(secret)
          for (let start = 0; start + 8 <= text.length; start++) {
            assert.notInclude(everything, text.slice(start, start + 8))
          }
        }
      }))

    it.effect("sign-ins that replace each other's sessions do not wait for each other", () =>
      Effect.gen(function*() {
        const hosts = [yield* makeHost({ sessionsMax: 2 }), yield* makeHost({ sessionsMax: 2 })] as const
        const [one, two] = [memberOf("b"), memberOf("c")]
        for (let round = 0; round < 5; round++) {
          const [first, second] = [yield* hosts[0].start(one, browser), yield* hosts[0].start(two, browser)]
          yield* Effect.all([
            hosts[0].start(one, { ...browser, replaces: second.token }),
            hosts[1].start(two, { ...browser, replaces: first.token })
          ], { concurrency: 2 })
        }
        assert.isAtMost((yield* hosts[0].list(one)).length, 2)
      }))
  })
}
