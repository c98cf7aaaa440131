/** Ends of holds in transactions of callers that do not see what was committed after they began. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { PgProgram } from "@kinora/testkit"
import type { PoolClient } from "pg"
import { createLedger, type Ledger, StorageFailedError } from "../src/promise.ts"

const expiresAt = new Date("2099-01-01T00:00:00Z")

describe("ends of a hold whose lot was revoked", () => {
  let program: PgProgram.PgProgram
  let ledger: Ledger
  beforeAll(async () => {
    program = await PgProgram.open()
    ledger = await createLedger({ pool: program.pool })
  })
  afterAll(async () => {
    await ledger.close()
    await program.close()
  })

  const pairs = [["release", "capture"], ["capture", "release"], ["release", "release"]] as const

  for (const level of ["REPEATABLE READ", "SERIALIZABLE"]) {
    for (const [first, second] of pairs) {
      it(`happen once with a snapshot of ${level} from before a ${first}, which a ${second} does not see`, async () => {
        const job = { account: `${level} ${first} ${second}`, reference: "job" }
        const { lot } = await ledger.grant({ ...job, reference: "start", kind: "addon", credits: 100, expiresAt })
        await ledger.hold({ ...job, credits: 100, within: "1 hour" })
        // The end of the hold opens a new lot, so it does not write a row that the other one writes.
        await ledger.revoke({ account: job.account, lot: lot.id })
        const error = await program.inTransaction(async (tx) => {
          await tx.query(`SET TRANSACTION ISOLATION LEVEL ${level}`)
          await tx.query("SELECT FROM work")
          await ledger[first](job)
          await ledger[second]({ ...job, tx })
        }).catch((error: unknown) => error)
        assert.instanceOf(error, StorageFailedError)
        assert.isTrue(error.isRetryable)
        const { discrepancies, totals } = await ledger.verify({ account: job.account })
        assert.deepStrictEqual([discrepancies, totals.held], [[], 0])
        assert.strictEqual(totals.consumed, first === "capture" ? 100 : 0)
      })
    }
  }
})

describe("a hold that was opened after the snapshot of a caller", () => {
  let program: PgProgram.PgProgram
  let ledger: Ledger
  beforeAll(async () => {
    program = await PgProgram.open()
    ledger = await createLedger({ pool: program.pool, holdsMax: 1 })
  })
  afterAll(async () => {
    await ledger.close()
    await program.close()
  })

  const within = "1 hour"
  const quota = { kind: "image", limit: 1 }
  // They write no row that the hold writes, since they take no credits.
  const calls = {
    "another hold": (account: string, tx: PoolClient) =>
      ledger.hold({ account, reference: "other", credits: 0, within, tx }),
    "a charge of its reference": (account: string, tx: PoolClient) =>
      ledger.charge({ account, reference: "job", quota, tx })
  }

  for (const level of ["REPEATABLE READ", "SERIALIZABLE"]) {
    for (const [name, call] of Object.entries(calls)) {
      it(`is not overlooked by ${name} (${level})`, async () => {
        const account = `${level} ${name}`
        await ledger.grant({ account, reference: "start", kind: "addon", credits: 10, expiresAt })
        const error = await program.inTransaction(async (tx) => {
          await tx.query(`SET TRANSACTION ISOLATION LEVEL ${level}`)
          await tx.query("SELECT FROM work")
          await ledger.hold({ account, reference: "job", credits: 10, within })
          await call(account, tx)
        }).catch((error: unknown) => error)
        assert.instanceOf(error, StorageFailedError)
        assert.isTrue(error.isRetryable)
        assert.strictEqual((await ledger.entries({ account })).length, 2)
        await ledger.capture({ account, reference: "job" })
      })
    }
  }
})
