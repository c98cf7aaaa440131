/** The process of the shop: its pool, its ledger, and its server. */
import { createLedger } from "@kinora/ledger/promise"
import type { AddressInfo } from "node:net"
import { makeApp } from "./app.ts"
import { openPool } from "./database.ts"

const pool = await openPool(process.env["DATABASE_URL"] ?? "postgres://postgres:postgres@127.0.0.1:5432/postgres")
// Creates or updates the tables of the ledger, and books expired lots in the background.
const ledger = await createLedger({ pool })

const server = makeApp(pool, ledger).listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1", (error) => {
  if (error !== undefined) throw error
  console.log(`The shop listens on http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})

// Ends requests, then the connections that they use.
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    server.close(async () => {
      await ledger.close()
      await pool.end()
    })
  })
}
