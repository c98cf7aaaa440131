import { createLimits } from "@kinora/rate-limit/promise"

const limits = await createLimits({ memory: true }) // { pool } or { url } shares the limits of all processes
const search = { key: "search/ada", limit: 2, window: "10 seconds" } as const

// At most 2 requests in a window that begins every 10 seconds.
for (let n = 0; n < 3; n++) console.log("fixed", (await limits.hit(search)).accepted) // fixed true, fixed true, fixed false

// At most 2 requests in any 10 seconds.
const sliding = await limits.hit({ ...search, algorithm: "slidingWindow" })
console.log("sliding", sliding.remaining) // sliding 1

// 2 requests at once, then one every 5 seconds. The same cost is possible after 10.
const bucket = await limits.hit({ ...search, algorithm: "tokenBucket", cost: 2 })
console.log("bucket", bucket.retryAt.getTime() - bucket.at.getTime()) // bucket 10000

await limits.close()
