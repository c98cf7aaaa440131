/** The process of the hotel: its database, its limits, and its server. */
import { createIdempotency } from "@kinora/idempotency/promise"
import { createLimits } from "@kinora/rate-limit/promise"
import { makeApp } from "./app.ts"
import { openDatabase } from "./database.ts"

const db = await openDatabase(process.env["DATABASE_URL"] ?? "postgres://postgres:postgres@127.0.0.1:5432/postgres")
// Both create or update their tables, and delete in the background what has expired.
const limits = await createLimits({ pool: db.$client })
const idempotency = await createIdempotency({ pool: db.$client })

const app = makeApp({ db, limits, idempotency })
const url = await app.listen({ port: Number(process.env["PORT"] ?? 3000), host: "127.0.0.1" })
console.log(`The hotel listens on ${url}`)

// Ends requests, then the connections that they use.
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, async () => {
    await app.close()
    await Promise.all([limits.close(), idempotency.close()])
    await db.$client.end()
  })
}
