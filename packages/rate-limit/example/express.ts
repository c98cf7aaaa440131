import { rateLimit } from "@kinora/rate-limit/express"
import { createLimits } from "@kinora/rate-limit/promise"
import express from "express"

const limits = await createLimits({ memory: true }) // { pool } or { url } shares the limits of all processes
export const app = express()
// Each client may make 2 requests per minute. Behind a proxy, set `trust proxy`.
app.use(rateLimit({ limits, policy: "api", limit: 2 }))
app.get("/", (_request, response) => void response.send("hello"))
