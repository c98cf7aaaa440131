import { assert, layer } from "@effect/vitest"
import { PlanTable } from "@kinora/accounts"
import { Catalog, DefaultModels, type Model } from "@kinora/catalog"
import { Migrations } from "@kinora/persistence"
import { TestDatabase } from "@kinora/testkit"
import { Effect, Layer, Logger, type Schema } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as ConfigurationCheck from "../src/ConfigurationCheck.ts"
import * as Crypto from "../src/Crypto.ts"
import { CurrentRules } from "../src/Moderation.ts"
import { CurrentPlanTable } from "../src/Services.ts"

const { draft, still } = DefaultModels

/** Starts the check of a process until the scope closes, and returns its warnings. */
const start = Effect.fnUntraced(function*(
  name: string,
  role: "server" | "worker",
  models: ReadonlyArray<Model.ModelInput>,
  moderation: Schema.Json = null
) {
  const warnings: Array<unknown> = []
  const logger = Logger.make<unknown, void>(({ message }) => {
    warnings.push(message)
  })
  yield* Layer.build(ConfigurationCheck.layer({ name, role, interval: "10 millis" })).pipe(
    Effect.provide(Layer.mergeAll(
      Catalog.layer(models),
      Layer.succeed(CurrentPlanTable, PlanTable.defaults),
      Layer.succeed(CurrentRules, moderation),
      Crypto.layerDigest,
      Logger.layer([logger])
    ))
  )
  // Recorded, so that the next process sees it in its first comparison.
  const sql = yield* SqlClient.SqlClient
  yield* Effect.repeat(sql`SELECT 1 FROM host_configuration WHERE name = ${name}`, { until: (rows) => rows.length > 0 })
  return warnings
})

for (const [name, database] of TestDatabase.all) {
  layer(Migrations.layer(ConfigurationCheck.migrations).pipe(Layer.provideMerge(database)))(
    `ConfigurationCheck (${name})`,
    (it) => {
      it.effect("warns processes with different models, once, and logs what differs", () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const dearer = { ...still, price_table: [{ params: {}, credits: 9_999 }] }
          const message = "Another process of this database has a different configuration"
          const server = yield* start("server", "server", [draft, still])
          // A worker may have fewer models, and other drivers.
          const worker = yield* start("worker", "worker", [{ ...still, driver: { name: "scripted" }, description: "" }])
          const other = yield* start("other", "server", [dearer])
          const differences = ["models.kinora-draft", "models.kinora-still.price_table"]
          yield* Effect.repeat(sql`SELECT 1`, {
            until: () => server.length > 0 && other.length > 1 && worker.length > 0
          })
          assert.deepStrictEqual(server, [[message, { host: "other", differences }]])
          assert.deepStrictEqual(other, [
            [message, { host: "server", differences }],
            [message, { host: "worker", differences: ["models.kinora-still.price_table"] }]
          ])
          assert.deepStrictEqual(worker, [
            [message, { host: "other", differences: ["models.kinora-still.price_table"] }]
          ])
        }).pipe(Effect.scoped, TestClock.withLive))

      it.effect("warns processes with different moderations, without their options", () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const hook = { hook: { url: "https://moderation.example.com" } }
          const server = yield* start("moderated", "server", [still], hook)
          yield* start("unmoderated", "worker", [still])
          yield* Effect.repeat(sql`SELECT 1`, { until: () => server.length > 0 })
          const [[, found] = []] = server as ReadonlyArray<ReadonlyArray<unknown>>
          assert.deepStrictEqual(found, { host: "unmoderated", differences: ["moderation"] })
          const rows = yield* sql`SELECT digests FROM host_configuration`
          assert.notInclude(JSON.stringify(rows), "example.com")
        }).pipe(Effect.scoped, TestClock.withLive))

      it.effect("ignores processes that have stopped", () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          yield* Effect.scoped(start("stopped", "server", [draft]))
          assert.deepStrictEqual(yield* sql`SELECT name FROM host_configuration`, [])
        }).pipe(TestClock.withLive))
    }
  )
}
