/** Jobs in transactions of programs with drivers of their own. */
import { assert, describe, it } from "@effect/vitest"
import * as External from "@kinora/persistence/external"
import * as CallerTransactions from "@kinora/testkit/CallerTransactions"
import { Effect, Layer, Schema } from "effect"
import * as JobKind from "../src/JobKind.ts"
import * as Scheduler from "../src/Scheduler.ts"

const Render = JobKind.make({ name: "render", payload: Schema.Struct({ request: Schema.String }) })

describe("enqueue in a transaction of a program", () => {
  for (const [name, driver] of CallerTransactions.all<External.Transaction>(External)) {
    it.effect(`is consistent with the rows of 200 requests of which a quarter rolls back (${name})`, () =>
      Effect.gen(function*() {
        const { pool, program } = yield* CallerTransactions.open(driver)
        const services = yield* Layer.build(Scheduler.layerPostgres().pipe(Layer.provide(External.layerPg(pool))))
        yield* Effect.promise(() =>
          CallerTransactions.runRequests(
            program,
            200,
            (tx, { account, id }) =>
              Scheduler.Scheduler.use(({ enqueue }) =>
                enqueue({
                  job: crypto.randomUUID(),
                  lane: `${account}/render`,
                  group: account,
                  cap: 100,
                  kind: Render,
                  payload: { request: id }
                })
              ).pipe(External.join(tx), Effect.provideContext(services), Effect.runPromise)
          )
        )
        const { rows } = yield* Effect.promise(() =>
          pool.query(`
            SELECT count(*)::int AS count, count(*) FILTER (WHERE request.id IS NULL OR job.id IS NULL)::int AS inconsistent,
              count(*) FILTER (WHERE job.state = 'queued')::int AS queued
            FROM request FULL JOIN scheduler_job AS job ON job.payload ->> 'request' = request.id
          `)
        )
        assert.deepStrictEqual(rows, [{ count: 150, inconsistent: 0, queued: 150 }])
      }))
  }
})
