import { createLimits } from "@kinora/rate-limit/promise"

const limits = await createLimits({ memory: true }) // { pool } or { url } forgets what all processes share
const search = { key: "search/ada", window: "1 day", algorithm: "slidingWindow" } as const
await limits.hit({ ...search, limit: 100 })
await limits.reserve({ key: "bytes/ada", limit: 1_000, amount: 800 })

console.log(await limits.forget(search)) // 1
console.log(await limits.forget({ key: "bytes/ada" })) // 1
console.log(await limits.used({ key: "bytes/ada" })) // 0
await limits.close()
