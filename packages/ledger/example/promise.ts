import { createLedger, InsufficientCreditsError } from "@kinora/ledger/promise"
import { Pool } from "pg"

const pool = new Pool({ connectionString: process.env["DATABASE_URL"] })
// Creates or updates the tables, and books expired lots in the background.
const ledger = await createLedger({ pool })
await pool.query("CREATE TABLE render (id text PRIMARY KEY)")

const expiresAt = new Date(Date.now() + 30 * 86_400_000)
await ledger.grant({ account: "ada", reference: "2026-11", kind: "plan", credits: 50, expiresAt })

/** Inserts a job and charges for it, both or neither. */
const render = async (id: string) => {
  const tx = await pool.connect()
  try {
    await tx.query("BEGIN")
    await tx.query("INSERT INTO render VALUES ($1)", [id])
    await ledger.charge({ account: "ada", reference: id, credits: 40, tx })
    await tx.query("COMMIT")
  } catch (error) {
    await tx.query("ROLLBACK")
    throw error
  } finally {
    tx.release()
  }
}

await render("job-1")
console.log((await ledger.balances({ account: "ada" })).credits) // 10
await render("job-2").catch((error: unknown) => {
  if (error instanceof InsufficientCreditsError) console.log(error.required, error.available) // 40 10
})
console.log((await pool.query("SELECT id FROM render")).rows) // [ { id: 'job-1' } ]

await ledger.close()
await pool.end()
