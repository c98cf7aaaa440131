/** Accounts that are forgotten beside other processes, on a pool of `pg`. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { PgProgram } from "@kinora/testkit"
import { createLedger, type Ledger, LedgerError, StorageFailedError } from "../src/promise.ts"

const expiresAt = new Date("2099-01-01T00:00:00Z")

describe("forget", () => {
  let program: PgProgram.PgProgram
  let ledger: Ledger
  let other: Ledger
  beforeAll(async () => {
    program = await PgProgram.open()
    ledger = await createLedger({ pool: program.pool, sweep: false })
    other = await createLedger({ url: program.url, sweep: false })
  })
  afterAll(async () => {
    await ledger.close()
    await other.close()
    await program.close()
  })

  const open = async (account: string) => {
    await ledger.grant({ account, reference: `${account} granted`, kind: "addon", credits: 100, expiresAt })
    await ledger.charge({
      account,
      reference: `${account} charged`,
      credits: 20,
      metadata: { call: `${account} noted` }
    })
    await ledger.charge({ account, reference: `${account} counted`, quota: { kind: "image", limit: 3 } })
    await ledger.refund({
      account,
      reference: `${account} charged`,
      part: { reference: `${account} part`, credits: 5 }
    })
    await ledger.hold({ account, reference: `${account} captured`, credits: 10, within: "1 hour" })
    await ledger.capture({ account, reference: `${account} captured`, credits: 6 })
    await ledger.hold({ account, reference: `${account} held`, credits: 9, within: "1 hour" })
  }

  const assertSound = async () => {
    assert.deepStrictEqual((await ledger.verify()).discrepancies, [])
    const { rows } = await program.pool.query("SELECT FROM ledger_forgetting")
    assert.deepStrictEqual(rows, [])
  }

  /** Returns the tables that have the text. */
  const tablesWith = async (text: string) => {
    const { rows: tables } = await program.pool.query<{ name: string }>(
      "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename LIKE 'ledger%'"
    )
    assert.isAtLeast(tables.length, 8)
    const counts = await Promise.all(
      tables.map(({ name }) =>
        program.pool.query(`SELECT FROM ${name} AS one WHERE strpos(one::text, $1) > 0 LIMIT 1`, [text])
      )
    )
    return tables.filter((_, n) => counts[n]!.rows.length > 0).map(({ name }) => name)
  }

  it("leaves no row of any table that has the name or a reference", async () => {
    await open("grace")
    assert.deepStrictEqual((await tablesWith("grace")).toSorted(), [
      "ledger_account",
      "ledger_entry",
      "ledger_hold",
      "ledger_lot",
      "ledger_quota",
      "ledger_transaction"
    ])
    assert.deepStrictEqual(await ledger.forget({ account: "grace" }), { transactions: 10, credits: 79 })
    assert.deepStrictEqual(await tablesWith("grace"), [])
    await assertSound()
  })

  it("is the only change of transactions and entries that the tables allow", async () => {
    await open("guarded")
    const { rows: [booked] } = await program.pool.query<{ id: string }>(
      "SELECT id FROM ledger_transaction WHERE account = 'guarded' AND kind = 'release'"
    )
    const begin = `
      INSERT INTO ledger_account VALUES ('next');
      INSERT INTO ledger_forgetting VALUES ('guarded', 'next');`
    const moved = `${begin} UPDATE ledger_transaction SET account = 'next', reference = 'r' WHERE id = '${booked!.id}';`
    const refused = [
      "UPDATE ledger_transaction SET reference = 'r' WHERE account = 'guarded'",
      "UPDATE ledger_transaction SET account = 'other' WHERE account = 'guarded'",
      "UPDATE ledger_entry SET from_book = 'held:r' WHERE from_book = 'held:guarded captured'",
      `${begin} UPDATE ledger_transaction SET reference = 'r' WHERE account = 'guarded'`,
      `${begin} UPDATE ledger_transaction SET account = 'next', amount = 3 WHERE account = 'guarded'`,
      `${begin} UPDATE ledger_transaction SET account = 'next', at = now() WHERE account = 'guarded'`,
      `${begin} UPDATE ledger_transaction SET account = 'next', kind = 'grant' WHERE account = 'guarded'`,
      `${begin} UPDATE ledger_transaction SET account = 'next', reverses = NULL WHERE account = 'guarded'`,
      `${begin} UPDATE ledger_transaction SET account = 'next', metadata = '{"call": "other"}' WHERE account = 'guarded'`,
      `${begin} DELETE FROM ledger_transaction WHERE account = 'guarded'`,
      `${begin} TRUNCATE ledger_transaction CASCADE`,
      `${begin} UPDATE ledger_entry SET from_book = 'held:r' WHERE transaction_id = '${booked!.id}'`,
      `${moved} UPDATE ledger_transaction SET account = 'guarded' WHERE account = 'next'`,
      `${moved} UPDATE ledger_entry SET from_book = 'held:s' WHERE transaction_id = '${booked!.id}'`,
      `${moved} UPDATE ledger_entry SET from_book = 'consumed' WHERE transaction_id = '${booked!.id}'`,
      `${moved} UPDATE ledger_entry SET to_book = 'held:r' WHERE transaction_id = '${booked!.id}'`,
      `${moved} UPDATE ledger_entry SET amount = 1 WHERE transaction_id = '${booked!.id}'`,
      `${moved} UPDATE ledger_entry SET line = 7 WHERE transaction_id = '${booked!.id}'`,
      `${moved} DELETE FROM ledger_entry WHERE transaction_id = '${booked!.id}'`,
      `${moved} TRUNCATE ledger_entry`
    ]
    for (const statement of refused) {
      const error = await program.inTransaction((tx) => tx.query(statement)).catch((error: unknown) => error)
      assert.match(String(error), /The books are only added to/, statement)
    }
    const allowed = `${moved} UPDATE ledger_entry SET from_book = 'held:r' WHERE transaction_id = '${booked!.id}'`
    const error = await program.inTransaction(async (tx) => {
      await tx.query(allowed)
      throw new Error("rolled back")
    }).catch((error: unknown) => error)
    assert.match(String(error), /rolled back/)
    await ledger.forget({ account: "guarded" })
    await assertSound()
  })

  it("waits for a capture of another process, whose charge is forgotten too", async () => {
    const account = "hopper"
    await open(account)
    let forgetting: Promise<unknown> | undefined
    await program.inTransaction(async (tx) => {
      await ledger.capture({ account, reference: `${account} held`, credits: 4, tx })
      forgetting = other.forget({ account })
      while ((await program.pool.query(waitingForLocks)).rows.length === 0);
    })
    assert.deepStrictEqual(await forgetting, { transactions: 11, credits: 75 })
    assert.deepStrictEqual(await tablesWith(account), [])
    await assertSound()
  })

  it("releases a hold before another process captures it, which then fails", async () => {
    const account = "lovelace"
    await open(account)
    let capture: Promise<unknown> | undefined
    await program.inTransaction(async (tx) => {
      await ledger.forget({ account, tx })
      capture = other.capture({ account, reference: `${account} held` }).catch((error: unknown) => error)
      while ((await program.pool.query(waitingForLocks)).rows.length === 0);
    })
    assert.deepInclude(await capture, { code: "unknown_hold" })
    assert.deepStrictEqual(await tablesWith(`${account} held`), [])
    // The refused call has created the account again.
    assert.deepStrictEqual(await tablesWith(account), ["ledger_account"])
    await ledger.forget({ account })
    assert.deepStrictEqual(await tablesWith(account), [])
    await assertSound()
  })

  for (const level of ["REPEATABLE READ", "SERIALIZABLE"]) {
    it(`fails a call of a caller whose snapshot of ${level} is from before, and one with a snapshot from before a charge`, async () => {
      const account = `snapshot of ${level}`
      await open(account)
      const fromBefore = (concurrent: () => Promise<unknown>, call: Parameters<typeof program.inTransaction>[0]) =>
        program.inTransaction(async (tx) => {
          await tx.query(`SET TRANSACTION ISOLATION LEVEL ${level}`)
          await tx.query("SELECT FROM work")
          await concurrent()
          return call(tx)
        }).catch((error: unknown) => error)
      const assertConflict = (error: unknown) => {
        assert.instanceOf(error, StorageFailedError)
        assert.isTrue(error.isRetryable)
      }
      assertConflict(
        await fromBefore(
          () => ledger.charge({ account, reference: "concurrent", credits: 0 }),
          (tx) => ledger.forget({ account, tx })
        )
      )
      await assertSound()
      const forget = () => other.forget({ account })
      const refund = { account, reference: `${account} charged` }
      assertConflict(await fromBefore(forget, (tx) => ledger.refund({ ...refund, tx })))
      assert.deepStrictEqual(await tablesWith(account), [])
      await open(account)
      // Without a conflict, the call succeeds at these levels too.
      await program.inTransaction(async (tx) => {
        await tx.query(`SET TRANSACTION ISOLATION LEVEL ${level}`)
        await ledger.forget({ account, tx, limit: 3 })
      })
      assert.deepStrictEqual(await tablesWith(account), [])
      await assertSound()
    })
  }

  it("continues after a call that was aborted between two batches", async () => {
    const account = "aborted"
    await ledger.grant({ account, reference: "start", kind: "addon", credits: 100, expiresAt })
    await Promise.all(
      Array.from({ length: 60 }, (_, n) => ledger.charge({ account, reference: `${account} ${n}`, credits: 1 }))
    )
    const controller = new AbortController()
    const forgetting = ledger.forget({ account, limit: 1, signal: controller.signal }).catch((error: unknown) => error)
    while ((await program.pool.query("SELECT FROM ledger_forgetting")).rows.length === 0);
    controller.abort(new Error("the request has ended"))
    assert.match(String(await forgetting), /the request has ended/)
    const left = await ledger.entries({ account })
    assert.isAtLeast(left.length, 1)
    assert.deepStrictEqual((await ledger.verify()).discrepancies, [])
    assert.deepStrictEqual((await ledger.verify({ account })).discrepancies, [])
    await ledger.forget({ account })
    assert.deepStrictEqual(await tablesWith(account), [])
    await assertSound()
  })

  it("keeps the books sound beside 600 random commands of two processes", async () => {
    const accounts = Array.from({ length: 6 }, (_, n) => `random ${n}`)
    let seed = 1
    const random = (below: number) => {
      seed = (seed * 48_271) % 0x7fffffff
      return seed % below
    }
    const one = async (ledger: Ledger) => {
      const account = accounts[random(accounts.length)]!
      const reference = `${account} job ${random(12)}`
      const credits = random(9)
      switch (random(12)) {
        case 0:
        case 1:
          return ledger.grant({ account, reference, kind: "addon", credits: 40, expiresAt })
        case 2:
        case 3:
          return ledger.charge({ account, reference, credits })
        case 4:
          return ledger.charge({ account, reference, quota: { kind: "image", limit: 30 } })
        case 5:
          return ledger.refund({ account, reference })
        case 6:
          return ledger.refund({ account, reference, part: { reference: `${random(3)}`, credits: 1 + random(3) } })
        case 7:
        case 8:
          return ledger.hold({ account, reference, credits, within: "1 hour" })
        case 9:
          return ledger.capture({ account, reference })
        case 10:
          return ledger.release({ account, reference })
        default:
          return ledger.forget({ account, limit: 1 + random(5) })
      }
    }
    const queue = Array.from({ length: 600 }, (_, n) => n)
    const work = async (ledger: Ledger) => {
      while (queue.pop() !== undefined) {
        await one(ledger).catch((error: unknown) => {
          if (!(error instanceof LedgerError)) throw error
        })
      }
    }
    const verify = async () => {
      while (queue.length > 0) assert.deepStrictEqual((await ledger.verify()).discrepancies, [])
    }
    await Promise.all([...Array.from({ length: 10 }, (_, n) => work(n % 2 === 0 ? ledger : other)), verify()])
    assert.deepStrictEqual((await ledger.verify()).discrepancies, [])
    await Promise.all(accounts.flatMap((account) => [ledger.forget({ account }), other.forget({ account, limit: 2 })]))
    assert.deepStrictEqual(await tablesWith("random"), [])
    await assertSound()
  })
})

/** Sessions of this database only: other tests use other databases of the same server. */
const waitingForLocks = `
  SELECT FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%ledger_account%'`
