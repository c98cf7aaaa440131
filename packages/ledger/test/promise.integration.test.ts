/** The ledger of programs without Effect, on a pool of `pg`. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { PgPool, PgProgram } from "@kinora/testkit"
import type { Pool } from "pg"
import { createLedger, InsufficientCreditsError, type Ledger, StorageFailedError } from "../src/promise.ts"

const expiresAt = new Date("2099-01-01T00:00:00Z")

/** Sessions of this database only: other tests use other databases of the same server. */
const waitingForLocks = `
  SELECT FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%ledger_account%'`

describe("createLedger with a pool", () => {
  const inTransaction: PgProgram.PgProgram["inTransaction"] = (body) => program.inTransaction(body)
  let program: PgProgram.PgProgram
  let pool: Pool
  let ledger: Ledger
  beforeAll(async () => {
    program = await PgProgram.open()
    pool = program.pool
    ledger = await createLedger({ pool })
    await pool.query("CREATE TABLE render (id text PRIMARY KEY, account text)")
  })
  afterAll(async () => {
    await ledger.close()
    await program.close()
  })

  const open = (account: string, credits: number) =>
    ledger.grant({ account, reference: "start", kind: "addon", credits, expiresAt })

  it("charges, refunds and lists with dates and plain objects", async () => {
    const account = "plain"
    const { lot } = await open(account, 100)
    assert.deepStrictEqual(lot.expiresAt, expiresAt)
    const charged = await ledger.charge({ account, reference: "job", credits: 40 })
    assert.deepStrictEqual(charged, {
      _tag: "ChargedCredits",
      credits: 40,
      parts: [{ lot: lot.id, credits: 40 }],
      labels: []
    })
    assert.strictEqual((await ledger.balances({ account })).credits, 60)
    const entries = await ledger.entries({ account })
    assert.deepStrictEqual(entries.map(({ kind }) => kind), ["charge", "grant"])
    assert.instanceOf(entries[0]!.at, Date)
    const statement = await ledger.statement({ account, from: new Date(0), to: new Date(Date.now() + 60_000) })
    assert.deepStrictEqual(statement.lines.map(({ transaction }) => transaction), entries.toReversed())
    assert.deepStrictEqual(statement.closing, { credits: 60, held: 0 })
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
    await program.request((id, tx) =>
      ledger.charge({ account: accounts[Number(id) % 10]!, reference: id, credits: 1, tx })
    )
    const { rows } = await pool.query(`
      SELECT count(*)::int AS count,
        count(*) FILTER (WHERE work.id IS NULL OR booked.reference IS NULL)::int AS inconsistent
      FROM work
      FULL JOIN (SELECT * FROM ledger_transaction WHERE kind = 'charge' AND account LIKE 'request %') AS booked
        ON work.id = booked.reference
    `)
    assert.deepStrictEqual(rows, [{ count: PgProgram.requestsCommitted, inconsistent: 0 }])
    const balances = await Promise.all(accounts.map((account) => ledger.balances({ account })))
    assert.strictEqual(balances.reduce((sum, { credits }) => sum + credits, 0), 1000 - PgProgram.requestsCommitted)
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
      const { signal } = controller
      const charge = ledger.charge({ account, reference: "job", credits: 40, tx, signal }).catch(String)
      while ((await pool.query(waitingForLocks)).rows.length === 0);
      controller.abort(new Error("the request has ended"))
      await holder.query("COMMIT")
      assert.match(`${await charge}`, /the request has ended/)
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
    await using byUrl = await createLedger({ url: program.url, sweep: false })
    await byUrl.grant({ account, reference: "start", kind: "plan", credits: 10, expiresAt })
    await inTransaction((tx) => byUrl.charge({ account, reference: "job", credits: 4, tx }))
    const error = await inTransaction(async (tx) => {
      await byUrl.charge({ account, reference: "undone", credits: 4, tx })
      throw new Error("rolled back")
    }).catch((error: unknown) => error)
    assert.match(String(error), /rolled back/)
    assert.strictEqual((await byUrl.balances({ account })).credits, 6)
  })

  it("runs a call again whose connection is lost, with a pool of the program and with one of its own", async () => {
    const plain = PgPool.make(program.url)
    for (const options of [{ pool: plain }, { url: program.url }]) {
      await using other = await createLedger({ ...options, sweep: false })
      const account = `lost call ${"url" in options}`
      await open(account, 10)
      const charged = await inTransaction(async (tx) => {
        await ledger.charge({ account, reference: "held", credits: 1, tx })
        const charge = other.charge({ account, reference: "lost", credits: 1 })
        const terminate = waitingForLocks.replace("SELECT", "SELECT pg_terminate_backend(pid)")
        while ((await pool.query(terminate)).rows.length === 0);
        return { charge }
      })
      assert.deepInclude(await charged.charge, { _tag: "ChargedCredits", credits: 1 })
      assert.strictEqual((await other.balances({ account })).credits, 8)
    }
    await plain.end()
  })

  it("ends a call that is aborted while it waits for a connection, and returns the connection", async () => {
    const small = PgPool.make(program.url, 1)
    const waiting = await createLedger({ pool: small, sweep: false })
    const client = await small.connect()
    const controller = new AbortController()
    const call = waiting.balances({ account: "nobody", signal: controller.signal })
    while (small.waitingCount === 0) await new Promise(setImmediate)
    controller.abort(new Error("the request has ended"))
    assert.match(String(await call.catch((error: unknown) => error)), /the request has ended/)
    client.release()
    assert.strictEqual((await waiting.balances({ account: "nobody" })).credits, 0)
    assert.deepStrictEqual([small.totalCount, small.idleCount], [1, 1])
    await waiting.close()
    await small.end()
  })

  it("settles calls that wait for a connection before it closes", async () => {
    const own = await createLedger({ url: program.url, sweep: false })
    const calls = Promise.all(Array.from({ length: 30 }, () => own.balances({ account: "nobody" })))
    const [balances] = await Promise.all([calls, own.close()])
    assert.strictEqual(balances.length, 30)
    assert.match(String(await own.balances({ account: "nobody" }).catch((error: unknown) => error)), /is closed/)
  })

  it("refuses a client without a transaction", async () => {
    const client = await pool.connect()
    const charge = ledger.charge({ account: "none", reference: "job", credits: 0, tx: client })
    const error = await charge.catch((error: unknown) => error)
    client.release()
    assert.instanceOf(error, StorageFailedError)
    assert.deepInclude(error, { code: "storage_failed", isRetryable: false })
  })
})
