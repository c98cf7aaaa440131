/** API keys of programs without Effect, on a pool of `pg`. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { PgProgram } from "@kinora/testkit"
import { type ApiKeys, createApiKeys, TooManyKeysError } from "../src/promise.ts"

describe("createApiKeys with a pool", () => {
  let program: PgProgram.PgProgram
  let keys: ApiKeys
  beforeAll(async () => {
    program = await PgProgram.open()
    keys = await createApiKeys({ pool: program.pool, prefix: "acme_", keysMax: 50, revocationWithin: 0 })
  })
  afterAll(async () => {
    await keys.close()
    await program.close()
  })

  it("is consistent with the rows of 600 requests of which a quarter rolls back", async () => {
    await program.request((id, tx) => keys.create({ owner: `owner ${Number(id) % 20}`, name: id, tx }))
    const { rows } = await program.pool.query(`
      SELECT count(*)::int AS count,
        count(*) FILTER (WHERE work.id IS NULL OR key.id IS NULL)::int AS inconsistent
      FROM work FULL JOIN api_keys_key AS key ON key.name = work.id
    `)
    assert.deepStrictEqual(rows, [{ count: PgProgram.requestsCommitted, inconsistent: 0 }])
  })

  it("is consistent with the rows of requests that roll and revoke keys, of which a quarter rolls back", async () => {
    await program.pool.query("CREATE TABLE rotation (name text, former text, id text)")
    const first = await Promise.all(
      Array.from({ length: 40 }, (_, n) => keys.create({ owner: `rotator ${n % 4}`, name: `rotated ${n}` }))
    )
    const rolledBack = new Error("rolled back")
    await Promise.all(first.map(({ record: { id, name, owner } }, n) =>
      program.inTransaction(async (tx) => {
        const { record } = await keys.roll({ owner, id, overlap: "1 hour", tx })
        await keys.revoke({ owner, id, tx })
        await tx.query("INSERT INTO rotation VALUES ($1, $2, $3)", [name, id, record.id])
        if (n % 4 === 0) throw rolledBack
      }).catch((error: unknown) => {
        if (error !== rolledBack) throw error
      })
    ))
    const { rows: rotations } = await program.pool.query<{ former: string; id: string }>(
      "SELECT former, id FROM rotation"
    )
    assert.strictEqual(rotations.length, 30)
    const replaced = new Map(rotations.map(({ former, id }) => [former, id]))
    const active = await Promise.all(
      first.map(async ({ key, record: { id } }) => [id, await keys.verify({ key })] as const)
    )
    assert.deepStrictEqual(active.filter(([id, record]) => replaced.has(id) === (record !== undefined)), [])
    const listed = (await Promise.all([0, 1, 2, 3].map((n) => keys.list({ owner: `rotator ${n}` })))).flat()
    assert.strictEqual(listed.length, 70)
    const lines = new Map(listed.filter(({ id, line }) => id !== line).map(({ id, line }) => [line, id]))
    assert.deepStrictEqual(lines, replaced)
  })

  it("throws a typed error for a refusal, which leaves the transaction of the caller usable", async () => {
    await using few = await createApiKeys({ pool: program.pool, keysMax: 1, sweep: false })
    await few.create({ owner: "full", name: "first" })
    await program.inTransaction(async (tx) => {
      const error = await few.create({ owner: "full", name: "second", tx }).catch((error: unknown) => error)
      assert.instanceOf(error, TooManyKeysError)
      assert.deepInclude(error, { code: "too_many_keys", owner: "full", keysMax: 1 })
      await tx.query("INSERT INTO work VALUES ('full')")
    })
    assert.strictEqual((await program.pool.query("SELECT FROM work WHERE id = 'full'")).rows.length, 1)
  })

  it("sees a revocation after the commit of its transaction, and not before", async () => {
    const { key, record: { id } } = await keys.create({ owner: "late", name: "key" })
    await program.inTransaction(async (tx) => {
      await keys.revoke({ owner: "late", id, tx })
      assert.isUndefined(await keys.verify({ key, tx }))
      assert.isDefined(await keys.verify({ key }))
    })
    assert.isUndefined(await keys.verify({ key }))
  })

  it("connects to a database by its URL, and records the uses of keys when it closes", async () => {
    const byUrl = await createApiKeys({ url: program.url, prefix: "acme_", sweep: false })
    const { key, record: { id } } = await keys.create({ owner: "url", name: "key" })
    assert.isUndefined((await byUrl.verify({ key }))?.lastUsedAt)
    await byUrl.close()
    assert.instanceOf((await keys.get({ owner: "url", id })).lastUsedAt, Date)
  })
})
