import { createLimits } from "@kinora/rate-limit/promise"
import { Pool } from "pg"

const pool = new Pool({ connectionString: process.env["DATABASE_URL"] })
// Creates or updates the tables, and deletes past counters in the background.
const limits = await createLimits({ pool })

for (let n = 0; n < 3; n++) {
  const { accepted, remaining } = await limits.hit({ key: "requests/ada", limit: 2 })
  console.log(accepted, remaining) // true 1, true 0, false 0
}

/** Sends a file if the account may: 1 at a time, 1,000 bytes per day. */
const download = async (account: string, bytes: number) => {
  // The place is free when it is released, or 30 seconds after the process died.
  const place = await limits.acquire({ key: `streams/${account}`, max: 1 })
  if (place === undefined) return "too many streams"
  try {
    const reserved = await limits.reserve({ key: `bytes/${account}`, limit: 1_000, amount: bytes })
    if (reserved._tag === "Refused") return `${reserved.remaining} bytes left today`

    // The client disconnects after half of the file. The other half is returned.
    await limits.settle({ reservation: reserved.reservation, used: bytes / 2 })
    return "sent"
  } finally {
    await place.release()
  }
}

console.log(await download("ada", 800)) // sent
console.log(await download("ada", 800)) // 600 bytes left today

await limits.close()
await pool.end()
