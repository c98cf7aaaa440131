import { rateLimit } from "@kinora/rate-limit/hono"
import { createLimits } from "@kinora/rate-limit/promise"
import { Hono } from "hono"

const limits = await createLimits({ memory: true }) // { pool } or { url } shares the limits of all processes
export const app = new Hono()
// Each API key may make 2 requests per minute.
app.use(rateLimit({ limits, policy: "api", limit: 2, key: (c) => c.req.header("x-api-key") ?? "none" }))
app.get("/", (c) => c.text("hello"))
