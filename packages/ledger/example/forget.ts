import { createLedger } from "@kinora/ledger/promise"

const ledger = await createLedger({ memory: true })
const account = "ada@example.com"
const expiresAt = new Date(Date.now() + 30 * 86_400_000)
await ledger.grant({ account, reference: "order-7", kind: "addon", credits: 100, expiresAt })
await ledger.charge({ account, reference: "job-1", credits: 40 })

console.log(await ledger.forget({ account })) // { transactions: 3, credits: 60 }
console.log(await ledger.entries({ account })) // []
console.log((await ledger.verify()).totals.expired) // 60
await ledger.close()
