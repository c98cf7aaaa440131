import { createLedger } from "@kinora/ledger/promise"

const ledger = await createLedger({ memory: true })
const account = "ada"
const at = (day: string) => new Date(`2026-03-${day}T12:00:00Z`)
const expiresAt = new Date("2027-01-01")
await ledger.grant({ account, reference: "order-1", kind: "addon", credits: 100, expiresAt, at: at("02") })
await ledger.charge({ account, reference: "job-1", credits: 30, at: at("05") })
await ledger.refund({ account, reference: "job-1", at: at("09") })

const month = { account, from: new Date("2026-03-01"), to: new Date("2026-04-01") }
let after: string | undefined
do {
  const { lines, next } = await ledger.statement({ ...month, after })
  for (const { balance, change, transaction } of lines) {
    console.log(transaction.at.toISOString().slice(0, 10), transaction.kind, change.credits, balance.credits)
  }
  after = next
} while (after !== undefined)
await ledger.close()
// 2026-03-02 grant 100 100
// 2026-03-05 charge -30 70
// 2026-03-09 refund 30 100
