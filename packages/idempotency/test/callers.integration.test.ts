/** Claims in transactions of programs with drivers of their own. */
import { assert, describe, it } from "@effect/vitest"
import * as External from "@kinora/persistence/external"
import * as CallerTransactions from "@kinora/testkit/CallerTransactions"
import { Effect, Layer } from "effect"
import { Digest } from "effect/crypto"
import * as Fingerprint from "../src/Fingerprint.ts"
import * as Idempotency from "../src/Idempotency.ts"
import { IdempotencyKey } from "../src/IdempotencyKey.ts"

describe("once in a transaction of a program", () => {
  for (const [name, driver] of CallerTransactions.all<External.Transaction>(External)) {
    it.effect(`is consistent with the rows of 200 requests of which a quarter rolls back (${name})`, () =>
      Effect.gen(function*() {
        const { pool, program } = yield* CallerTransactions.open(driver)
        const services = yield* Layer.build(
          Layer.merge(
            Idempotency.layerPostgres().pipe(Layer.provide(External.layerPg(pool))),
            Digest.layerWebCrypto
          )
        )
        const claim = (tx: External.Transaction, { account, id }: CallerTransactions.Request) =>
          Effect.gen(function*() {
            const { once } = yield* Idempotency.Idempotency
            const fingerprint = yield* Fingerprint.make({ id })
            const key = IdempotencyKey.Implicit({ endpoint: id })
            const claim = { scope: account, key, fingerprint, reference: id }
            const first = yield* once(claim, Effect.void)
            const again = yield* once({ ...claim, reference: "again" }, Effect.void)
            return [first._tag, again._tag === "Done" ? undefined : again.reference]
          }).pipe(External.join(tx), Effect.provideContext(services), Effect.runPromise)
        yield* Effect.promise(() =>
          CallerTransactions.runRequests(program, 200, async (tx, request) => {
            assert.deepStrictEqual(await claim(tx, request), ["Done", request.id])
          })
        )
        const { rows } = yield* Effect.promise(() =>
          pool.query(`
            SELECT count(*)::int AS count,
              count(*) FILTER (WHERE request.id IS NULL OR claim.reference IS NULL)::int AS inconsistent
            FROM request FULL JOIN idempotency_claim AS claim ON claim.reference = request.id
          `)
        )
        assert.deepStrictEqual(rows, [{ count: 150, inconsistent: 0 }])
      }))
  }
})
