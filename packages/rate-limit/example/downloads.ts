import { Budget, Places, RateLimit } from "@kinora/rate-limit"
import { Effect } from "effect"

/** Sends a file if the account may: 3 requests per minute, 1 at a time, 1,000 bytes per day. */
export const download = Effect.fn("download")(function*(account: string, bytes: number) {
  const { hit } = yield* RateLimit.RateLimit
  const { acquire } = yield* Places.Places
  const { reserve, settle } = yield* Budget.Budget

  const { accepted, remaining } = yield* hit({ key: `requests/${account}`, limit: 3 })
  if (!accepted) return "429: too many requests"

  // The place is free when the scope closes, or 30 seconds after the process died.
  if (!(yield* acquire({ key: `streams/${account}`, max: 1 }))) return "429: too many streams"

  const reserved = yield* reserve({ key: `bytes/${account}`, limit: 1_000, amount: bytes })
  if (reserved._tag === "Refused") return `429: ${reserved.remaining} bytes left today`

  // The client disconnects after half of the file. The other half is returned.
  yield* settle(reserved.reservation, bytes / 2)
  return `sent, ${remaining} requests left`
}, Effect.scoped)
