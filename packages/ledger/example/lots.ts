import { createLedger } from "@kinora/ledger/promise"

const ledger = await createLedger({
  memory: true,
  lotKinds: { bonus: { rank: 0 }, paid: { rank: 1 }, returned: { rank: 2 }, gift: { rank: 3, restricted: true } },
  refundKind: "returned"
})
const account = "ada"
const lot = { account, expiresAt: new Date(Date.now() + 30 * 86_400_000) }
await ledger.grant({ ...lot, reference: "invoice-1", kind: "paid", credits: 100 })
await ledger.grant({ ...lot, reference: "campaign", kind: "bonus", credits: 20, purpose: "speech", labels: ["beta"] })
await ledger.grant({ ...lot, reference: "birthday", kind: "gift", credits: 10 })
const { credits, creditsByPurpose } = await ledger.balances({ account })
console.log(credits, creditsByPurpose.get("speech")) // 120 20

// The bonus pays first, and only for speech.
const charged = await ledger.charge({ account, reference: "job-1", credits: 30, purpose: "speech" })
if (charged._tag === "ChargedCredits") console.log(charged.labels) // [ 'beta' ]

// The gift pays only if the charge allows it.
await ledger.charge({ account, reference: "job-2", credits: 95, kindsAllowed: ["gift"] })

// Counts 3 of the 60 minutes of the day.
const quota = { kind: "minutes", limit: 60, amount: 3 }
await ledger.charge({ account, reference: "call-1", quota, metadata: { call: "c-17" } })
const [last] = await ledger.entries({ account, limit: 1 })
console.log(last?.amount, last?.metadata) // 3 { call: 'c-17' }
await ledger.close()
