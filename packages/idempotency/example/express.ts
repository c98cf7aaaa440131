import { idempotent } from "@kinora/idempotency/express"
import { createIdempotency } from "@kinora/idempotency/promise"
import express from "express"

const idempotency = await createIdempotency({ memory: true }) // { pool } or { url } stores the responses in Postgres
export const app = express()
// The account of your authentication. Keys of an account are never those of another.
app.use(express.json(), idempotent({ idempotency, scope: (request) => `${request.headers["x-account"]}` }))
app.post("/orders", (_request, response) => void response.status(201).json({ id: crypto.randomUUID() }))
