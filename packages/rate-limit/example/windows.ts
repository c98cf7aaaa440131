import { createLimits } from "@kinora/rate-limit/promise"

const limits = await createLimits({ memory: true }) // { pool } or { url } shares the limits of all processes
const key = "search/ada"

// At most 2 requests per 10 seconds.
for (let n = 0; n < 3; n++) {
  const { accepted } = await limits.hit({ key, limit: 2, window: "10 seconds" })
  console.log("fixed", accepted) // true, true, false
}

await limits.close()
