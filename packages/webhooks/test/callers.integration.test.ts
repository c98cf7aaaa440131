/** Events in transactions of programs with drivers of their own. */
import { assert, describe, it } from "@effect/vitest"
import * as External from "@kinora/persistence/external"
import * as CallerTransactions from "@kinora/testkit/CallerTransactions"
import { Effect, Layer, Redacted } from "effect"
import * as Webhooks from "../src/Webhooks.ts"

describe("webhooks in a transaction of a program", () => {
  for (const [name, driver] of CallerTransactions.all<External.Transaction>(External)) {
    it.effect(`are consistent with the rows of 200 requests of which a quarter rolls back (${name})`, () =>
      Effect.gen(function*() {
        const { pool, program } = yield* CallerTransactions.open(driver)
        const layer = Webhooks.layerPostgres({
          keys: [Redacted.make("a key of at least thirty-two bytes")],
          guard: { allowPrivate: true }
        })
        const services = yield* Layer.build(layer.pipe(Layer.provide(External.layerPg(pool))))
        const endpoint = { url: "http://127.0.0.1:9/hooks", types: ["render.done"] }
        // In a transaction, which reads arrays and bytes, too.
        const created = yield* Effect.promise(() =>
          program.transaction(({ tx }) =>
            Effect.gen(function*() {
              const { create, get } = yield* Webhooks.Webhooks
              const created = yield* Effect.forEach([0, 1, 2, 3, 4, 5, 6, 7, 8, 9], (n) => create(`${n}`, endpoint))
              return yield* get("0", created[0]!.endpoint.id)
            }).pipe(External.join(tx), Effect.provideContext(services), Effect.runPromise)
          )
        )
        assert.deepStrictEqual(created.types, endpoint.types)
        yield* Effect.promise(() =>
          CallerTransactions.runRequests(
            program,
            200,
            (tx, { account, id }) =>
              Webhooks.Webhooks.use(({ publish }) => publish([{ account, type: "render.done", data: { request: id } }]))
                .pipe(
                  External.join(tx),
                  Effect.provideContext(services),
                  Effect.runPromise
                )
          )
        )
        const { rows } = yield* Effect.promise(() =>
          pool.query(`
            SELECT count(*)::int AS count,
              count(*) FILTER (WHERE request.id IS NULL OR event.id IS NULL OR delivery.id IS NULL)::int AS inconsistent
            FROM request
            FULL JOIN webhooks_event AS event ON event.data ->> 'request' = request.id
            FULL JOIN webhooks_delivery AS delivery ON delivery.event_id = event.id
          `)
        )
        assert.deepStrictEqual(rows, [{ count: 150, inconsistent: 0 }])
      }))
  }
})
