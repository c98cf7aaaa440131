import { idempotent } from "@kinora/idempotency/fastify"
import { createIdempotency } from "@kinora/idempotency/promise"
import fastify from "fastify"

const idempotency = await createIdempotency({ memory: true }) // { pool } or { url } stores the responses in Postgres
export const app = fastify()
// The account of your authentication, which cannot be empty. Each account has keys of its own.
app.addHook(
  "preHandler",
  idempotent({ idempotency, scope: (request) => request.headers["x-account"]?.toString() ?? "" })
)
app.post("/orders", async (_request, reply) => reply.code(201).send({ id: crypto.randomUUID() }))
