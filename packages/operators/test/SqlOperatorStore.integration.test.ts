import { assert, layer } from "@effect/vitest"
import { Migrations, UnitOfWork } from "@kinora/persistence"
import { QueryPlan, TestDatabase } from "@kinora/testkit"
import { DateTime, Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { inspect } from "node:util"
import { deleteStatement } from "../src/internal/sql/auditDeletion.ts"
import * as SqlOperatorStore from "../src/SqlOperatorStore.ts"
import * as AuditContract from "./AuditContract.ts"
import { makeHost, makeLog } from "./Hosts.ts"
import * as OperatorsContract from "./OperatorsContract.ts"

const over = (database: TestDatabase.TestDatabase) =>
  Layer.merge(SqlOperatorStore.layer, UnitOfWork.layerSql).pipe(
    Layer.provideMerge(Migrations.layer(SqlOperatorStore.migrations)),
    Layer.provideMerge(database)
  )

for (const [name, database] of TestDatabase.all) {
  OperatorsContract.suite(name, over(database))
  AuditContract.suite(name, over(database))

  layer(Layer.merge(over(database), SecureRandom.layerWebCrypto))(`SqlOperatorStore (${name})`, (it) => {
    it.effect("stores nothing of a token that allows its use", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const host = yield* makeHost()
        const { operator, token: first } = yield* host.create({ name: "Ada", role: "owner" })
        const { token: second } = yield* host.rotate(operator.id)
        yield* host.authenticate(second)
        const rows = yield* sql<{ readonly text: string }>`
          SELECT to_jsonb(found)::text AS text FROM operators_operator found
        `
        const everything = rows.map(({ text }) => text).join("\n")
        assert.include(everything, Redacted.value(second).slice(0, 12))
        for (const token of [first, second]) {
          const text = Redacted.value(token)
          assert.notInclude(everything, text.slice(0, 13))
          for (let start = 12; start + 6 <= text.length; start++) {
            assert.notInclude(everything, text.slice(start, start + 6))
          }
        }
      }))

    it.effect("refuses to change and delete entries, also after the retention has run in the same unit", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { atomically } = yield* UnitOfWork.UnitOfWork
        const log = yield* makeLog
        const append = log.append(AuditContract.change)
        yield* append
        yield* TestClock.adjust("1 hour")
        const entry = yield* append
        const refusedBy = Effect.fnUntraced(function*<A, E>(statement: Effect.Effect<A, E>) {
          assert.include(inspect(yield* Effect.flip(statement), { depth: 9 }), "append-only")
        })
        for (
          const statement of [
            sql`UPDATE operators_audit SET actor = 'nobody'`,
            sql`DELETE FROM operators_audit`,
            sql`TRUNCATE operators_audit`
          ]
        ) {
          yield* refusedBy(statement)
          yield* refusedBy(atomically(Effect.andThen(log.deleteOlder({ age: "30 minutes", limit: 10 }), statement)))
        }
        assert.strictEqual((yield* log.list({ limit: 10 })).length, 2)
        assert.strictEqual(yield* log.deleteOlder({ age: "30 minutes", limit: 10 }), 1)
        assert.deepStrictEqual(yield* log.list({ limit: 10 }), [entry])
      }))

    it.effect("deletes entries of an action without reading those that are not due", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { atomically } = yield* UnitOfWork.UnitOfWork
        const begin = Date.UTC(2026, 0)
        // One entry per second: those of an action that is kept for longer, then those of the action.
        yield* sql`
          INSERT INTO operators_audit (id, at, actor, address, request_id, action)
          SELECT
            (lpad(to_hex(${begin}::bigint + second * 1000), 12, '0') || '70008' || repeat('0', 15))::uuid,
            to_timestamp(${begin}::bigint / 1000 + second),
            'unknown', '192.0.2.1', 'req-1', CASE WHEN second < 2000 THEN 'long' ELSE 'short' END
          FROM generate_series(0, 3999) AS second
        `
        yield* sql`ANALYZE operators_audit`
        for (const due of [0, 10]) {
          const before = DateTime.makeUnsafe(begin + (2_000 + due) * 1_000)
          yield* atomically(Effect.gen(function*() {
            yield* sql`SELECT set_config('kinora.audit_retention', 'on', true)`
            const steps = yield* QueryPlan.explain(deleteStatement(sql, { before, limit: 500, action: "short" }))
            const scans = steps.filter(({ table, type }) => table === "operators_audit" && type.includes("Scan"))
            assert.deepStrictEqual(scans.map(({ rows }) => rows), [due, due], JSON.stringify(steps))
          }))
        }
      }))
  })
}
