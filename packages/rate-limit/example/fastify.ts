import { rateLimit } from "@kinora/rate-limit/fastify"
import { createLimits } from "@kinora/rate-limit/promise"
import fastify from "fastify"

const limits = await createLimits({ memory: true }) // { pool } or { url } shares the limits of all processes
export const app = fastify()
// Each client may make 2 requests per minute. Behind a proxy, set `trustProxy`.
app.addHook("onRequest", rateLimit({ limits, policy: "api", limit: 2 }))
app.get("/", async () => "hello")
