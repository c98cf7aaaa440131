/** Idempotency of programs without Effect, on a pool of `pg`. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { PgProgram } from "@kinora/testkit"
import { createIdempotency, type Idempotency, InProgressError, StorageFailedError } from "../src/promise.ts"

describe("createIdempotency with a pool", () => {
  let program: PgProgram.PgProgram
  let idempotency: Idempotency
  beforeAll(async () => {
    program = await PgProgram.open()
    idempotency = await createIdempotency({ pool: program.pool })
  })
  afterAll(async () => {
    await idempotency.close()
    await program.close()
  })

  it("is consistent with the rows of 600 requests of which a quarter rolls back", async () => {
    await program.pool.query("CREATE TABLE orders (id text PRIMARY KEY)")
    await program.request(async (id, tx) => {
      const claim = { scope: "crowd", key: id, body: id, reference: id, tx }
      const outcome = await idempotency.once(claim, () => tx.query("INSERT INTO orders VALUES ($1)", [id]))
      assert.strictEqual(outcome._tag, "Done")
    })
    const { rows } = await program.pool.query(`
      SELECT count(*)::int AS count,
        count(*) FILTER (WHERE work.id IS NULL OR orders.id IS NULL OR reference IS NULL)::int AS inconsistent
      FROM work
      FULL JOIN orders USING (id)
      FULL JOIN idempotency_claim ON reference = id
    `)
    assert.deepStrictEqual(rows, [{ count: PgProgram.requestsCommitted, inconsistent: 0 }])
  })

  it("runs one of ten repetitions at the same time, and replays its response to the others", async () => {
    await program.pool.query("CREATE TABLE parcel (id text PRIMARY KEY)")
    const ids = Array.from({ length: 10 }, (_, n) => `parcel-${n}`)
    const outcomes = await Promise.all(ids.map((id) =>
      program.inTransaction((tx) =>
        idempotency.once(
          { scope: "parcels", key: "k-1", body: null, reference: id, tx },
          () => tx.query("INSERT INTO parcel VALUES ($1)", [id])
        )
      )
    ))
    const { rows } = await program.pool.query<{ id: string }>("SELECT id FROM parcel")
    assert.strictEqual(rows.length, 1)
    const replays = outcomes.filter((outcome) => outcome._tag === "Replay")
    assert.deepStrictEqual(replays.map(({ reference }) => reference), Array.from({ length: 9 }, () => rows[0]!.id))
  })

  it("frees the key if the program continues after work that rejected, and if a statement of it failed", async () => {
    const claim = { scope: "failures", body: null, reference: "order-1" }
    await program.inTransaction(async (tx) => {
      const rejected = idempotency.once({ ...claim, key: "k-1", tx }, () => Promise.reject(new Error("no lamps")))
      assert.match(String(await rejected.catch((error: unknown) => error)), /no lamps/)
    })
    const failed = program.inTransaction((tx) =>
      idempotency.once({ ...claim, key: "k-2", tx }, () => tx.query("INSERT INTO absent VALUES (1)"))
    )
    assert.match(String(await failed.catch((error: unknown) => error)), /relation "absent" does not exist/)
    for (const key of ["k-1", "k-2"]) {
      assert.deepStrictEqual(await idempotency.claim({ ...claim, key }), { _tag: "Claimed" })
    }
  })

  it("throws a typed error while another transaction holds the key, and keeps the own one usable", async () => {
    const claim = { scope: "busy", key: "k-1", body: null, reference: "order-1" }
    await program.inTransaction(async (holder) => {
      await idempotency.claim({ ...claim, tx: holder })
      await program.inTransaction(async (tx) => {
        await tx.query("SET LOCAL lock_timeout = '50ms'")
        const error = await idempotency.claim({ ...claim, tx }).catch((error: unknown) => error)
        assert.instanceOf(error, InProgressError)
        assert.deepInclude(error, { code: "in_progress" })
        await tx.query("INSERT INTO work VALUES ('busy')")
      })
    })
    assert.strictEqual((await program.pool.query("SELECT FROM work WHERE id = 'busy'")).rows.length, 1)
    assert.deepStrictEqual(await idempotency.find(claim), { _tag: "Replay", reference: "order-1" })
  })

  it("forgets a scope in the transaction of the program, after a transaction that has claimed one of its keys again", async () => {
    const claim = { scope: "forgotten", body: null, reference: "order-1" }
    await Promise.all(["k-1", "k-2", "k-3"].map((key) => idempotency.claim({ ...claim, key })))
    await program.inTransaction(async (holder) => {
      assert.strictEqual((await idempotency.claim({ ...claim, key: "k-2", tx: holder }))._tag, "Replay")
      const error = await program.inTransaction(async (tx) => {
        await tx.query("SET LOCAL lock_timeout = '50ms'")
        await idempotency.forget({ scope: "forgotten", tx })
      }).catch((error: unknown) => error)
      assert.instanceOf(error, StorageFailedError)
      await idempotency.release({ ...claim, key: "k-2", tx: holder })
    })
    const rolledBack = program.inTransaction(async (tx) => {
      assert.strictEqual(await idempotency.forget({ scope: "forgotten", limit: 1, tx }), 2)
      throw new Error("no")
    })
    assert.match(String(await rolledBack.catch((error: unknown) => error)), /no/)
    assert.strictEqual(await program.inTransaction((tx) => idempotency.forget({ scope: "forgotten", tx })), 2)
    assert.deepStrictEqual(await idempotency.find({ ...claim, key: "k-1" }), { _tag: "None" })
  })

  it("connects to a database by its URL", async () => {
    const claim = { scope: "url", key: "k-1", body: null, reference: "order-1" }
    await using byUrl = await createIdempotency({ url: program.url, sweep: false })
    await program.inTransaction((tx) => byUrl.claim({ ...claim, tx }))
    assert.deepStrictEqual(await idempotency.find(claim), { _tag: "Replay", reference: "order-1" })
  })
})
