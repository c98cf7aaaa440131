/** API keys in transactions of programs with drivers of their own. */
import { assert, describe, it } from "@effect/vitest"
import * as External from "@kinora/persistence/external"
import * as CallerTransactions from "@kinora/testkit/CallerTransactions"
import { Effect } from "effect"
import { createApiKeys } from "../src/promise.ts"

describe("createApiKeys in a transaction of a program", () => {
  for (const [name, driver] of CallerTransactions.all<External.Transaction>(External)) {
    it.effect(`is consistent with the rows of 200 requests of which a quarter rolls back (${name})`, () =>
      Effect.gen(function*() {
        const { pool, program } = yield* CallerTransactions.open(driver)
        yield* Effect.promise(async () => {
          await using keys = await createApiKeys({ pool })
          const made = new Map<string, string>()
          await CallerTransactions.runRequests(program, 200, async (tx, { account, id }) => {
            const { key, record } = await keys.create({ owner: account, name: id, metadata: { id }, tx })
            made.set(id, key)
            const found = await keys.verify({ key, tx })
            assert.deepStrictEqual(found, record)
          })
          const { rows } = await pool.query<{ count: number; inconsistent: number }>(`
            SELECT count(*)::int AS count,
              count(*) FILTER (WHERE request.id IS NULL OR key.id IS NULL OR key.owner <> request.account)::int AS inconsistent
            FROM request FULL JOIN api_keys_key AS key ON key.name = request.id
          `)
          assert.deepStrictEqual(rows, [{ count: 150, inconsistent: 0 }])
          const { rows: committed } = await pool.query<{ id: string }>("SELECT id FROM request")
          const ids = new Set(committed.map(({ id }) => id))
          const verified = await Promise.all(
            Array.from(made, async ([id, key]) => [id, await keys.verify({ key })] as const)
          )
          // Nothing that a transaction read is cached.
          assert.deepStrictEqual(verified.filter(([id, record]) => ids.has(id) !== (record !== undefined)), [])
        })
      }))
  }
})
