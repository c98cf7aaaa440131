/** API keys in transactions whose snapshot is older than the keys that others have created. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { PgProgram } from "@kinora/testkit"
import { type ApiKeys, createApiKeys, StorageFailedError } from "../src/promise.ts"

type Transaction = Parameters<Parameters<PgProgram.PgProgram["inTransaction"]>[0]>[0]

for (const level of ["REPEATABLE READ", "SERIALIZABLE"]) {
  describe(`createApiKeys in a transaction at ${level}`, () => {
    let program: PgProgram.PgProgram
    let keys: ApiKeys
    beforeAll(async () => {
      program = await PgProgram.open()
      keys = await createApiKeys({ pool: program.pool, keysMax: 1, revocationWithin: 0 })
    })
    afterAll(async () => {
      await keys.close()
      await program.close()
    })

    /** Returns the error of a call in a transaction that began before `others`. */
    const errorAfter = async (
      others: () => Promise<unknown>,
      call: (tx: Transaction) => Promise<unknown>
    ): Promise<unknown> => {
      const tx = await program.pool.connect()
      try {
        await tx.query(`BEGIN ISOLATION LEVEL ${level}`)
        await tx.query("SELECT count(*) FROM api_keys_key")
        await others()
        return await call(tx).then(() => undefined, (error: unknown) => error)
      } finally {
        await tx.query("COMMIT")
        tx.release()
      }
    }

    const assertConflict = (error: unknown) => {
      assert.instanceOf(error, StorageFailedError)
      assert.deepInclude(error, { code: "storage_conflict", isRetryable: true })
    }

    it("creates no key beyond keysMax", async () => {
      const owner = "full"
      assertConflict(
        await errorAfter(
          () => keys.create({ owner, name: "first" }),
          (tx) => keys.create({ owner, name: "second", tx })
        )
      )
      assert.deepStrictEqual((await keys.list({ owner })).map(({ name }) => name), ["first"])
    })

    it("does not revoke and delete all keys except for those that it does not see", async () => {
      const calls = [
        (owner: string, tx: Transaction) => keys.revokeAll({ owner, tx }),
        (owner: string, tx: Transaction) => keys.forget({ owner, tx })
      ]
      for (const [n, call] of calls.entries()) {
        const owner = `unseen ${n}`
        assertConflict(await errorAfter(() => keys.create({ owner, name: "key" }), (tx) => call(owner, tx)))
      }
    })

    it("creates keys if no other call was between", async () => {
      const owner = "alone"
      assert.isUndefined(await errorAfter(() => Promise.resolve(), (tx) => keys.create({ owner, name: "key", tx })))
      assert.strictEqual((await keys.list({ owner })).length, 1)
    })
  })
}
