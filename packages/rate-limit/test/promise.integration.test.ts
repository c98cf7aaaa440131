/** The limits of programs without Effect, on a pool of `pg`. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { PgProgram } from "@kinora/testkit"
import { createLimits, type Limits, StorageFailedError } from "../src/promise.ts"

describe("createLimits with a pool", () => {
  let program: PgProgram.PgProgram
  let limits: Limits
  beforeAll(async () => {
    program = await PgProgram.open()
    // Past minutes are compared, too.
    limits = await createLimits({ pool: program.pool, sweep: false })
  })
  afterAll(async () => {
    await limits.close()
    await program.close()
  })

  it("is consistent with the rows of 600 requests of which a quarter rolls back", async () => {
    await program.request(async (id, tx) => {
      const key = `bytes/${Number(id) % 10}`
      const reserved = await limits.reserve({ key, limit: 1_000, amount: 10, tx })
      assert.strictEqual(reserved._tag, "Granted")
      await limits.hit({ key: `requests/${id}`, limit: 1, tx })
    })
    const { rows } = await program.pool.query(`
      SELECT (SELECT count(*)::int FROM work) AS work,
        (SELECT sum(used)::int FROM rate_limit_day) AS reserved,
        (SELECT count(*)::int FROM work FULL JOIN rate_limit_minute ON key = 'requests/' || id
          WHERE id IS NULL OR key IS NULL OR used <> 1) AS inconsistent
    `)
    const work = PgProgram.requestsCommitted
    assert.deepStrictEqual(rows, [{ work, reserved: 10 * work, inconsistent: 0 }])
  })

  it("takes a place with the transaction of the program, or not at all", async () => {
    const place = { key: "submits/ada", max: 1, lasts: "1 hour" } as const
    const undone = program.inTransaction(async (tx) => {
      assert.isTrue(await limits.acquireFor({ ...place, tx }))
      throw new Error("rolled back")
    })
    assert.match(String(await undone.catch((error: unknown) => error)), /rolled back/)
    assert.strictEqual(await limits.held(place), 0)
    await program.inTransaction((tx) => limits.acquireFor({ ...place, tx }))
    assert.isFalse(await limits.acquireFor(place))
  })

  it("shares places with other processes, and releases them when it closes", async () => {
    const streams = { key: "streams/ada", max: 1 }
    const other = await createLimits({ url: program.url, sweep: false })
    assert.isDefined(await other.acquire(streams))
    assert.isUndefined(await limits.acquire(streams))
    await other.close()
    assert.strictEqual(await limits.held(streams), 0)
    await using place = await limits.acquire(streams)
    assert.isDefined(place)
  })

  it("forgets a key in the transaction of the program, or not at all", async () => {
    const key = "forgotten"
    await limits.hit({ key, limit: 9 })
    await limits.reserve({ key, limit: 9, amount: 4 })
    await limits.acquireFor({ key, max: 9, lasts: "1 hour" })
    const undone = program.inTransaction(async (tx) => {
      assert.strictEqual(await limits.forget({ key, tx }), 3)
      throw new Error("rolled back")
    })
    assert.match(String(await undone.catch((error: unknown) => error)), /rolled back/)
    assert.strictEqual(await limits.used({ key }), 4)
    assert.strictEqual(await program.inTransaction((tx) => limits.forget({ key, rowsMax: 1, tx })), 3)
    const tables = ["minute", "day", "place", "window", "bucket"].map((name) => `SELECT key FROM rate_limit_${name}`)
    const { rows } = await program.pool.query(`SELECT FROM (${tables.join(" UNION ALL ")}) AS one WHERE key = $1`, [
      key
    ])
    assert.deepStrictEqual(rows, [])
  })

  it("throws a typed error for a client without a transaction", async () => {
    const client = await program.pool.connect()
    const hit = limits.hit({ key: "requests/none", limit: 1, tx: client })
    const error = await hit.catch((error: unknown) => error)
    client.release()
    assert.instanceOf(error, StorageFailedError)
    assert.deepInclude(error, { code: "storage_failed", isRetryable: false })
  })
})
