import { idempotent, runningRequest } from "@kinora/idempotency/fastify"
import type { Idempotency } from "@kinora/idempotency/promise"
import fastify from "fastify"
import type { Pool } from "pg"

/** An app whose orders are placed once, also if the process dies at any moment. */
export const makeApp = (pool: Pool, idempotency: Idempotency) => {
  const app = fastify()
  app.addHook("preHandler", idempotent({ idempotency, scope: "shop" }))
  app.post("/orders", async (request, reply) => {
    const id = crypto.randomUUID()
    const tx = await pool.connect()
    try {
      await tx.query("BEGIN")
      await tx.query("INSERT INTO orders (id) VALUES ($1)", [id])
      // The order and its response are committed together, or neither is.
      const response = { status: 201, headers: [["content-type", "text/plain"]] as const, body: id }
      await runningRequest(request)?.complete(response, { tx })
      await tx.query("COMMIT")
    } catch (error) {
      await tx.query("ROLLBACK")
      throw error
    } finally {
      tx.release()
    }
    return reply.code(201).type("text/plain").send(id)
  })
  return app
}
