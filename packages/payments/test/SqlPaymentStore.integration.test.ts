import { assert, layer } from "@effect/vitest"
import { Migrations, Pipelining, UnitOfWork } from "@kinora/persistence"
import { TestDatabase } from "@kinora/testkit"
import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import * as SqlPaymentStore from "../src/SqlPaymentStore.ts"
import { makeHost, open, urls } from "./Hosts.ts"
import * as PaymentsContract from "./PaymentsContract.ts"

const over = (database: TestDatabase.TestDatabase) =>
  Layer.merge(SqlPaymentStore.layer, UnitOfWork.layerSql).pipe(
    Layer.provideMerge(Migrations.layer(SqlPaymentStore.migrations)),
    Layer.provideMerge(database)
  )

PaymentsContract.suite("Postgres, pipelined", over(TestDatabase.postgresWith(Pipelining.over)), 400)

for (const [name, database, callers] of TestDatabase.all) {
  PaymentsContract.suite(name, over(database), callers)

  layer(Layer.merge(over(database), SecureRandom.layerWebCrypto))(`SqlPaymentStore (${name})`, (it) => {
    it.effect("stores no address of a checkout", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { id } = yield* open(yield* makeHost(), "acct-1")
        const [row] = yield* sql<{ readonly text: string }>`
          SELECT to_jsonb(found)::text AS text FROM payments_payment found
        `
        assert.include(row!.text, `cs_${id}`)
        for (const url of ["https://pay.test", urls.successUrl, urls.cancelUrl]) assert.notInclude(row!.text, url)
      }))
  })
}
