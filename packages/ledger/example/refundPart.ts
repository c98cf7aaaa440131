import { createLedger } from "@kinora/ledger/promise"

const ledger = await createLedger({ memory: true })
const account = "ada"
const expiresAt = new Date(Date.now() + 30 * 86_400_000)
await ledger.grant({ account, reference: "2026-11", kind: "plan", credits: 100, expiresAt })
await ledger.charge({ account, reference: "job-1", credits: 40 })

// The job used 25 of the 40 credits. Repeating the call changes nothing.
await ledger.refund({ account, reference: "job-1", part: { reference: "unused", credits: 15 } })
console.log((await ledger.balances({ account })).credits) // 75
// The rest of the charge.
await ledger.refund({ account, reference: "job-1" })
console.log((await ledger.balances({ account })).credits) // 100
await ledger.close()
