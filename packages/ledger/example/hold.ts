import { createLedger, HoldEndedError } from "@kinora/ledger/promise"

const ledger = await createLedger({ memory: true })
const account = "ada"
const expiresAt = new Date(Date.now() + 30 * 86_400_000)
await ledger.grant({ account, reference: "2026-11", kind: "plan", credits: 100, expiresAt })

await ledger.hold({ account, reference: "job-1", credits: 40, within: "1 hour" })
const { credits, held } = await ledger.balances({ account })
console.log(credits, held) // 60 40

// The job used 25 of the 40 credits. The other 15 are returned. Repeating the call changes nothing.
await ledger.capture({ account, reference: "job-1", credits: 25 })
console.log((await ledger.balances({ account })).credits) // 75

// This job was cancelled.
await ledger.hold({ account, reference: "job-2", credits: 40, within: "1 hour" })
await ledger.release({ account, reference: "job-2" })
await ledger.capture({ account, reference: "job-2" }).catch((error: unknown) => {
  if (error instanceof HoldEndedError) console.log(error.state) // released
})
console.log((await ledger.balances({ account })).credits) // 75
await ledger.close()
