import { SchemaContract } from "@kinora/testkit"
import { createLimits } from "../src/promise.ts"

SchemaContract.suite("createLimits", {
  create: createLimits,
  use: async (limits, tx) => {
    const key = tx === undefined ? "ada" : "eve"
    const hit = await limits.hit({ key, limit: 1, tx })
    const isHeld = await limits.acquireFor({ key, max: 1, lasts: "1 hour", tx })
    const isHeldTwice = await limits.acquireFor({ key, max: 1, lasts: "1 hour", tx })
    const reserved = await limits.reserve({ key, limit: 10, amount: 7, tx })
    return {
      isAccepted: hit.accepted,
      isHeld,
      isHeldTwice,
      reserved: reserved._tag,
      used: await limits.used({ key, tx })
    }
  }
})
