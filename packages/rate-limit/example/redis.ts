import { createLimits } from "@kinora/rate-limit/promise"
import { createClient } from "redis"

const redis = createClient({ url: process.env["REDIS_URL"] ?? "redis://127.0.0.1:6379" })
redis.on("error", (error: Error) => console.error(error.message))
await redis.connect()
const limits = await createLimits({ redis, prefix: "shop/" })

for (let n = 0; n < 3; n++) {
  const { accepted, remaining } = await limits.hit({
    key: "requests/ada",
    limit: 2,
    window: "1 day",
    algorithm: "tokenBucket"
  })
  console.log(accepted, remaining) // true 1, true 0, false 0
}

await limits.close()
redis.destroy()
