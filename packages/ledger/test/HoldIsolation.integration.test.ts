/** Ends of holds in transactions of callers that do not see what was committed after they began. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { PgProgram } from "@kinora/testkit"
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
