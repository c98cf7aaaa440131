import { createIdempotency, KeyReusedError } from "@kinora/idempotency/promise"
import { Pool } from "pg"

const pool = new Pool({ connectionString: process.env["DATABASE_URL"] })
// Creates or updates the table, and deletes expired claims in the background.
const idempotency = await createIdempotency({ pool })
await pool.query("CREATE TABLE orders (id uuid PRIMARY KEY)")

/** Places an order, or returns the id of the order that the same request has placed before. */
const placeOrder = async (key: string | undefined, body: { readonly item: string; readonly count: number }) => {
  const id = crypto.randomUUID()
  const tx = await pool.connect()
  try {
    await tx.query("BEGIN")
    // The claim and the order are committed together, or neither is.
    const request = { scope: "ada", endpoint: "orders", key, body, reference: id, tx }
    const outcome = await idempotency.once(request, () => tx.query("INSERT INTO orders (id) VALUES ($1)", [id]))
    await tx.query("COMMIT")
    return outcome._tag === "Done" ? id : outcome.reference
  } catch (error) {
    await tx.query("ROLLBACK")
    throw error
  } finally {
    tx.release()
  }
}

const key = crypto.randomUUID()
const first = await placeOrder(key, { item: "lamp", count: 2 })
const again = await placeOrder(key, { count: 2, item: "lamp" })
console.log(first === again) // true
await placeOrder(key, { item: "chair", count: 1 }).catch((error: unknown) => {
  if (error instanceof KeyReusedError) console.log(error.code) // key_reused
})

await idempotency.close()
await pool.end()
