/** The ledger of programs without Effect, on a pool of `pg`. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { TestDatabase } from "@kinora/testkit"
import { Effect, Exit, Scope } from "effect"
import { Pool, type PoolClient } from "pg"
import { createLedger, InsufficientCreditsError, type Ledger } from "../src/promise.ts"

const expiresAt = new Date("2099-01-01T00:00:00Z")

const waitingForLocks = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%ledger_account%'"

describe("createLedger with a pool", () => {
  const scope = Effect.runSync(Scope.make())
  let url: string
  let pool: Pool
  let ledger: Ledger
  beforeAll(async () => {
    url = await Effect.runPromise(Scope.provide(TestDatabase.postgresUrl, scope))
    pool = new Pool({ connectionString: url, max: 10 })
    // A test terminates a session, and the database is dropped before the sockets of the pool are closed.
    pool.on("connect", (client) => client.on("error", () => {}))
    pool.on("error", () => {})
    ledger = await createLedger({ pool })
    await pool.query("CREATE TABLE render (id text PRIMARY KEY, account text)")
  })
  afterAll(async () => {
    await ledger.close()
    await pool.end()
    await Effect.runPromise(Scope.close(scope, Exit.void))
  })

  const open = (account: string, credits: number) =>
    ledger.grant({ account, reference: "start", kind: "addon", credits, expiresAt })

  const inTransaction = async <A>(body: (client: PoolClient) => Promise<A>): Promise<A> => {
    const client = await pool.connect()
    try {
      await client.query("BEGIN")
      const result = await body(client)
      await client.query("COMMIT")
      return result
    } catch (error) {
      await client.query("ROLLBACK")
      throw error
    } finally {
      client.release()
    }
  }

  it("charges, refunds and lists with dates and plain objects", async () => {
    const account = "plain"
    const { lot } = await open(account, 100)
    assert.deepStrictEqual(lot.expiresAt, expiresAt)
    const charged = await ledger.charge({ account, reference: "job", credits: 40 })
    assert.deepStrictEqual(charged, {
      _tag: "ChargedCredits",
      credits: 40,
      parts: [{ lot: lot.id, credits: 40 }],
      watermark: false
    })
    assert.strictEqual((await ledger.balances({ account })).credits, 60)
    const entries = await ledger.entries({ account })
    assert.deepStrictEqual(entries.map(({ kind }) => kind), ["charge", "grant"])
    assert.instanceOf(entries[0]!.at, Date)
    await ledger.refund({ account, reference: "job" })
    assert.strictEqual((await ledger.balances({ account })).credits, 100)
    assert.deepStrictEqual((await ledger.verify({ account })).discrepancies, [])
  })

  it("throws a typed error for a refusal, which leaves the transaction of the caller usable", async () => {
    const account = "refused"
    await open(account, 10)
    await inTransaction(async (tx) => {
      const error = await ledger.charge({ account, reference: "job", credits: 40, tx }).catch((error: unknown) => error)
      assert.instanceOf(error, InsufficientCreditsError)
      assert.deepInclude(error, { code: "insufficient_credits", required: 40, available: 10 })
      await tx.query("INSERT INTO render VALUES ('refused', $1)", [account])
    })
    const { rows } = await pool.query("SELECT account FROM render WHERE id = 'refused'")
    assert.deepStrictEqual(rows, [{ account }])
  })

  it("is consistent with the rows of 600 requests of which a quarter rolls back", async () => {
    const accounts = Array.from({ length: 10 }, (_, n) => `request ${n}`)
    await Promise.all(accounts.map((account) => open(account, 100)))
    const queue = Array.from({ length: 600 }, (_, n) => n)
    const work = async () => {
      for (let n = queue.pop(); n !== undefined; n = queue.pop()) {
        const id = `${n}`
        const account = accounts[n % 10]!
        await inTransaction(async (tx) => {
          await tx.query("INSERT INTO render VALUES ($1, $2)", [id, account])
          await ledger.charge({ account, reference: id, credits: 1, tx })
          if (Math.floor(n / 10) % 4 === 0) throw new Error("rolled back")
        }).catch((error: unknown) => assert.match(String(error), /rolled back/))
      }
    }
    await Promise.all(accounts.map(work))
    const { rows } = await pool.query(`
      SELECT count(*)::int AS count,
        count(*) FILTER (WHERE render.id IS NULL OR booked.reference IS NULL)::int AS inconsistent
      FROM (SELECT * FROM render WHERE account LIKE 'request %') AS render
      FULL JOIN (SELECT * FROM ledger_transaction WHERE kind = 'charge' AND account LIKE 'request %') AS booked
        ON render.id = booked.reference
    `)
    assert.deepStrictEqual(rows, [{ count: 450, inconsistent: 0 }])
    for (const account of accounts) assert.strictEqual((await ledger.balances({ account })).credits, 55)
  })

  it("runs calls at the same time in one transaction one after the other", async () => {
    const account = "at once"
    await open(account, 100)
    await inTransaction((tx) =>
      Promise.all(
        Array.from({ length: 20 }, (_, n) => ledger.charge({ account, reference: `${n}`, credits: 5, tx }))
      )
    )
    assert.strictEqual((await ledger.balances({ account })).credits, 0)
  })

  it("undoes a call whose signal aborts while it waits for a lock, and keeps the transaction usable", async () => {
    const account = "aborted"
    await open(account, 100)
    const holder = await pool.connect()
    await holder.query("BEGIN")
    await holder.query("SELECT FROM ledger_account WHERE id = $1 FOR UPDATE", [account])
    await inTransaction(async (tx) => {
      const controller = new AbortController()
      const charge = ledger.charge({ account, reference: "job", credits: 40, tx, signal: controller.signal })
      while ((await pool.query(waitingForLocks)).rows.length === 0);
      controller.abort(new Error("the request has ended"))
      await holder.query("COMMIT")
      assert.match(String(await charge.catch((error: unknown) => error)), /the request has ended/)
      await tx.query("INSERT INTO render VALUES ('aborted', $1)", [account])
    })
    holder.release()
    assert.strictEqual((await ledger.balances({ account })).credits, 100)
    assert.strictEqual((await pool.query("SELECT FROM render WHERE id = 'aborted'")).rows.length, 1)
  })

  it("fails when the connection of the caller's transaction is lost, and works on another one", async () => {
    const account = "lost"
    await open(account, 100)
    const lost = inTransaction(async (tx) => {
      await ledger.charge({ account, reference: "job", credits: 40, tx })
      const { rows: [{ pid }] } = await tx.query("SELECT pg_backend_pid() AS pid")
      await pool.query("SELECT pg_terminate_backend($1)", [pid])
      await ledger.charge({ account, reference: "next", credits: 40, tx })
    })
    assert.instanceOf(await lost.catch((error: unknown) => error), Error)
    assert.strictEqual((await ledger.balances({ account })).credits, 100)
    await inTransaction((tx) => ledger.charge({ account, reference: "job", credits: 40, tx }))
    assert.strictEqual((await ledger.balances({ account })).credits, 60)
  })

  it("connects to a database by its URL, and joins transactions of a pool of the program", async () => {
    const account = "url"
    await using byUrl = await createLedger({ url, sweep: false })
    await byUrl.grant({ account, reference: "start", kind: "plan", credits: 10, expiresAt })
    await inTransaction((tx) => byUrl.charge({ account, reference: "job", credits: 4, tx }))
    const error = await inTransaction(async (tx) => {
      await byUrl.charge({ account, reference: "undone", credits: 4, tx })
      throw new Error("rolled back")
    }).catch((error: unknown) => error)
    assert.match(String(error), /rolled back/)
    assert.strictEqual((await byUrl.balances({ account })).credits, 6)
  })

  it("refuses a client without a transaction", async () => {
    const client = await pool.connect()
    const charge = ledger.charge({ account: "none", reference: "job", credits: 0, tx: client })
    const error = await charge.catch((error: unknown) => error)
    client.release()
    assert.deepInclude(error, { code: "storage_failed", isRetryable: false })
  })
})
