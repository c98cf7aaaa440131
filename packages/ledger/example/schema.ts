import { createLedger } from "@kinora/ledger/promise"

// The tables are "billing".ledger_lot and so on, whatever the search_path of the connection is.
const ledger = await createLedger({ url: process.env["DATABASE_URL"]!, schema: "billing" })
const expiresAt = new Date(Date.now() + 30 * 86_400_000)
await ledger.grant({ account: "ada", reference: "2026-11", kind: "plan", credits: 50, expiresAt })
console.log((await ledger.balances({ account: "ada" })).credits) // 50
await ledger.close()
