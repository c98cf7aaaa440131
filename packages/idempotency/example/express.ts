import { idempotent } from "@kinora/idempotency/express"
import { createIdempotency } from "@kinora/idempotency/promise"
import express from "express"

const idempotency = await createIdempotency({ memory: true }) // { pool } or { url } stores the responses in Postgres
export const app = express()
// The account of your authentication, which cannot be empty. Each account has keys of its own.
app.use(express.json(), idempotent({ idempotency, scope: (request) => request.headers["x-account"]?.toString() ?? "" }))
app.post("/orders", (_request, response) => void response.status(201).json({ id: crypto.randomUUID() }))
