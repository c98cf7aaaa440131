import { createLimits } from "@kinora/rate-limit/promise"

// The tables are "edge".rate_limit_minute and so on, whatever the search_path of the connection is.
const limits = await createLimits({ url: process.env["DATABASE_URL"]!, schema: "edge" })
const { accepted, remaining } = await limits.hit({ key: "requests/ada", limit: 2 })
console.log(accepted, remaining) // true 1
await limits.close()
