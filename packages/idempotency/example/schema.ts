import { createIdempotency } from "@kinora/idempotency/promise"

// The table is "orders".idempotency_claim, whatever the search_path of the connection is.
const idempotency = await createIdempotency({ url: process.env["DATABASE_URL"]!, schema: "orders" })
const claim = { scope: "ada", key: "k-1", body: { item: "lamp" }, reference: "order-1" }
console.log((await idempotency.once(claim, () => "placed"))._tag) // Done
console.log((await idempotency.once(claim, () => "placed"))._tag) // Replay
await idempotency.close()
