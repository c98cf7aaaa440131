import { idempotent } from "@kinora/idempotency/hono"
import { createIdempotency } from "@kinora/idempotency/promise"
import { Hono } from "hono"

const idempotency = await createIdempotency({ memory: true }) // { pool } or { url } stores the responses in Postgres
export const app = new Hono()
// The account of your authentication, which cannot be empty. Each account has keys of its own.
app.use(idempotent({ idempotency, scope: (c) => c.req.header("x-account") ?? "" }))
app.post("/orders", (c) => c.json({ id: crypto.randomUUID() }, 201))
