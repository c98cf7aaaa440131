/** The process of the weather service: its database, its keys, and its server. */
import { serve } from "@hono/node-server"
import { createApiKeys } from "@kinora/api-keys/promise"
import { makeApp } from "./app.ts"
import { openDatabase } from "./database.ts"

const url = process.env["DATABASE_URL"] ?? "postgres://postgres:postgres@127.0.0.1:5432/postgres"
const { pool, prisma } = await openDatabase(url)
// Creates or updates the tables of the keys, and deletes in the background those that ended 90 days ago.
const keys = await createApiKeys({ pool, prefix: "wx_" })

const app = makeApp({ prisma, keys })
const options = { fetch: app.fetch, port: Number(process.env["PORT"] ?? 3000), hostname: "127.0.0.1" }
const server = serve(options, ({ port }) => console.log(`The weather service listens on http://127.0.0.1:${port}`))

// Ends requests, then the connections that they use.
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    server.close(async () => {
      await keys.close()
      await prisma.$disconnect()
      await pool.end()
    })
  })
}
