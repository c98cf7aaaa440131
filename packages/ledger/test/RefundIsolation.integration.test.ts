/** Refunds in transactions of callers that do not see what was committed after they began. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { PgProgram } from "@kinora/testkit"
import { createLedger, type Ledger, StorageFailedError } from "../src/promise.ts"

const expiresAt = new Date("2099-01-01T00:00:00Z")

describe("refunds of a charge whose lot was revoked", () => {
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

  const part = (reference: string, credits: number) => ({ reference, credits })
  const parts = [
    ["parts", part("a", 60), part("b", 60)],
    ["the rest after a part", part("a", 60), undefined],
    ["a part after the rest", undefined, part("b", 60)]
  ] as const

  /** Opens an account with a charge of 100 credits, whose refunds open new lots. */
  const charged = async (account: string) => {
    const { lot } = await ledger.grant({ account, reference: "start", kind: "addon", credits: 100, expiresAt })
    await ledger.charge({ account, reference: "job", credits: 100 })
    await ledger.revoke({ account, lot: lot.id })
    return { account, reference: "job" }
  }

  for (const level of ["REPEATABLE READ", "SERIALIZABLE"]) {
    for (const [name, first, second] of parts) {
      it(`do not exceed it with a snapshot of ${level} from before (${name})`, async () => {
        const charge = await charged(`${level} ${name}`)
        const error = await program.inTransaction(async (tx) => {
          await tx.query(`SET TRANSACTION ISOLATION LEVEL ${level}`)
          await tx.query("SELECT FROM work")
          await ledger.refund({ ...charge, part: first })
          await ledger.refund({ ...charge, part: second, tx })
        }).catch((error: unknown) => error)
        assert.strictEqual((await ledger.balances(charge)).credits, first?.credits ?? 100)
        assert.instanceOf(error, StorageFailedError)
        assert.isTrue(error.isRetryable)
      })
    }
  }
})
