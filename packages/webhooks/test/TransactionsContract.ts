import { assert, layer } from "@effect/vitest"
import { Rows, type UnitOfWork } from "@kinora/persistence"
import { transactions } from "@kinora/persistence/testing"
import { DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { DeliveryId } from "../src/Delivery.ts"
import { EndpointId } from "../src/Endpoint.ts"
import { makeAccount } from "../src/internal/contract/services.ts"
import { makeWorld, settlementOf } from "../src/internal/contract/world.ts"
import * as Settlements from "../src/internal/worker/Settlements.ts"
import { layer as layerWebhooks, Webhooks } from "../src/Webhooks.ts"
import { WebhookStore } from "../src/WebhookStore.ts"
import { surroundings } from "./ServiceFixture.ts"

/** The behaviour of `publish` and of folded operations inside transactions of their callers. */
export const suite = <E>(
  name: string,
  backend: Layer.Layer<WebhookStore | UnitOfWork.UnitOfWork | SqlClient.SqlClient, E>,
  callers: number
) => {
  const numbers = Array.from({ length: callers }, (_, n) => n)
  const count = callers * 3 / 4
  layer(layerWebhooks.pipe(Layer.provideMerge(Layer.merge(backend, surroundings))))(
    `Webhooks in transactions of their callers (${name})`,
    (it) => {
      for (const [way, transaction] of Object.entries(transactions)) {
        it.effect(`commits or rolls back each event with the row of its publisher in ${way}`, () =>
          Effect.gen(function*() {
            const webhooks = yield* Webhooks
            const sql = yield* SqlClient.SqlClient
            const inTransaction = yield* transaction
            const account = yield* makeAccount
            yield* createCalls
            for (const n of [1, 2]) yield* webhooks.create(account, { url: `https://example.com/${n}` })

            const outcomes = yield* concurrently(numbers.map((n) =>
              Effect.gen(function*() {
                yield* sql`INSERT INTO call (scope, name) VALUES (${account}, ${`${n}`})`
                yield* webhooks.publish([{ account, type: "order.paid", data: { n } }])
                if (n % 4 === 0) return yield* Effect.die("rolled back")
              }).pipe(inTransaction, Effect.exit)
            ))

            assert.strictEqual(outcomes.filter(({ _tag }) => _tag === "Success").length, count)
            const published = sql`
              SELECT event.data ->> 'n' AS name, count(*)::int = 2 AS is_whole
              FROM webhooks_event AS event
              JOIN webhooks_delivery AS delivery ON delivery.event_id = event.id
              WHERE account = ${account}
              GROUP BY event.id, name
            `
            assert.deepStrictEqual(yield* findInconsistent(account, published), { count, inconsistent: 0 })
          }))

        it.effect(`commits or rolls back each settlement with the row of its caller in ${way}`, () =>
          Effect.gen(function*() {
            const store = yield* WebhookStore
            const sql = yield* SqlClient.SqlClient
            const inTransaction = yield* transaction
            const { settle } = yield* Settlements.make
            yield* createCalls
            const world = yield* makeWorld
            const endpoint = yield* world.endpoint()
            const now = yield* DateTime.now
            yield* Effect.forEach(numbers, () => world.publish([endpoint], now), { discard: true })
            const demand = { endpoint: endpoint.endpoint.id, limit: numbers.length }
            const claimed = yield* store.claim([demand], now, DateTime.add(now, { hours: 1 }))
            assert.strictEqual(claimed.length, numbers.length)

            const outcomes = yield* concurrently(claimed.map((claim, n) =>
              Effect.gen(function*() {
                const id = DeliveryId.toUuid(claim.delivery)
                yield* sql`INSERT INTO call (scope, name) VALUES (${world.account}, ${id})`
                assert.isTrue(yield* settle(settlementOf(claim, { _tag: "Delivered" }, now)))
                if (n % 4 === 0) return yield* Effect.die("rolled back")
              }).pipe(inTransaction, Effect.exit)
            ))

            assert.strictEqual(outcomes.filter(({ _tag }) => _tag === "Success").length, count)
            const settled = sql`
              SELECT delivery.id::text AS name, status = 'delivered' AND send.delivery_id IS NOT NULL AS is_whole
              FROM webhooks_delivery AS delivery
              FULL JOIN webhooks_send AS send ON send.delivery_id = delivery.id
              WHERE delivery.endpoint_id = ${EndpointId.toUuid(endpoint.endpoint.id)}
                AND (status = 'delivered' OR send.delivery_id IS NOT NULL)
            `
            assert.deepStrictEqual(yield* findInconsistent(world.account, settled), { count, inconsistent: 0 })
          }))
      }
    }
  )
}

const concurrently = <A, E, R>(effects: ReadonlyArray<Effect.Effect<A, E, R>>) =>
  Effect.all(effects, { concurrency: "unbounded" })

const createCalls = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql`
    CREATE TABLE IF NOT EXISTS call (scope text, name text, PRIMARY KEY (scope, name))
  `)

/** Counts the committed calls, and the calls and effects that are without each other or incomplete. */
const findInconsistent = Effect.fnUntraced(function*(scope: string, effects: Statement.Fragment) {
  const sql = yield* SqlClient.SqlClient
  const [found] = yield* sql`
    SELECT count(called.name)::int AS count,
      count(*) FILTER (WHERE called.name IS NULL OR effect.is_whole IS NOT TRUE)::int AS inconsistent
    FROM (SELECT name FROM call WHERE scope = ${scope}) AS called
    FULL JOIN (${effects}) AS effect USING (name)
  `.pipe(Rows.decodeAll(Schema.Struct({ count: Schema.Int, inconsistent: Schema.Int })))
  return found
})
