/** Hits in transactions of programs with drivers of their own. */
import { assert, describe, it } from "@effect/vitest"
import * as External from "@kinora/persistence/external"
import * as CallerTransactions from "@kinora/testkit/CallerTransactions"
import { Effect, Layer } from "effect"
import * as Limits from "../src/Limits.ts"
import * as RateLimit from "../src/RateLimit.ts"

describe("hit in a transaction of a program", () => {
  for (const [name, driver] of CallerTransactions.all<External.Transaction>(External)) {
    it.effect(`counts those of 200 requests that are not rolled back (${name})`, () =>
      Effect.gen(function*() {
        const { pool, program } = yield* CallerTransactions.open(driver)
        const services = yield* Layer.build(Limits.layerPostgres().pipe(Layer.provide(External.layerPg(pool))))
        yield* Effect.promise(() =>
          CallerTransactions.runRequests(program, 200, async (tx, { account }) => {
            const verdict = await RateLimit.RateLimit.use(({ hit }) => hit({ key: account, limit: 100 })).pipe(
              External.join(tx),
              Effect.provideContext(services),
              Effect.runPromise
            )
            assert.isTrue(verdict.accepted)
          })
        )
        const { rows } = yield* Effect.promise(() =>
          pool.query(`
            SELECT sum(used)::int AS used, count(*) FILTER (WHERE used <> requests)::int AS inconsistent
            FROM (SELECT key, sum(used) AS used FROM rate_limit_minute GROUP BY key) AS counter
            FULL JOIN (SELECT account AS key, count(*) AS requests FROM request GROUP BY account) AS counted USING (key)
          `)
        )
        assert.deepStrictEqual(rows, [{ used: 150, inconsistent: 0 }])
      }))
  }
})
