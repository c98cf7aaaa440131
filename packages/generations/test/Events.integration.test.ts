/** Events on SQL, and units of work that are retried. */
import { assert, layer } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence"
import { TestDatabase } from "@kinora/testkit"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Generations } from "../src/Generations.ts"
import { makeEndAll } from "../src/internal/end/endAll.ts"
import { modelWithdrawn } from "../src/internal/run/failures.ts"
import { layerSql, listen, openAccount, request } from "./Assembly.ts"
import { allEnded, suite } from "./EventsContract.ts"

for (const [name, database] of TestDatabase.all) {
  suite(name, layerSql(database))

  layer(layerSql(database))(`Retried units of work (${name})`, (it) => {
    it.effect("publish one event per generation", () =>
      Effect.gen(function*() {
        const { create, get } = yield* Generations
        const { atomically } = yield* UnitOfWork.UnitOfWork
        const sql = yield* SqlClient.SqlClient
        const endAll = yield* makeEndAll
        const account = yield* openAccount({ credits: 100 })
        const published = yield* listen(account.id)
        const { generation: subject } = yield* create(yield* request(account))
        let runs = 0
        const conflict = sql`DO $$ BEGIN RAISE EXCEPTION 'again' USING ERRCODE = '40001'; END $$`
        yield* atomically(Effect.gen(function*() {
          allEnded(yield* endAll([{ _tag: "Drop", subject, failure: modelWithdrawn }]))
          if (++runs === 1) yield* conflict
        }))
        assert.strictEqual(runs, 2)
        const generation = yield* get(account.id, subject.id)
        assert.deepStrictEqual(yield* published, [{ account: account.id, type: "generation.failed", generation }])
      }))
  })
}
