import { UnitOfWork } from "@kinora/persistence"
import { Budget, MemoryRateLimitStore, Places, RateLimit } from "@kinora/rate-limit"
import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"

/** Sends a file if the account may: 3 requests a minute, 1 at a time, 1,000 bytes a day. */
const download = Effect.fn("download")(function*(account: string, bytes: number) {
  const { hit } = yield* RateLimit.RateLimit
  const { acquire } = yield* Places.Places
  const { reserve, settle } = yield* Budget.Budget

  const { accepted, remaining } = yield* hit({ key: `requests/${account}`, limit: 3 })
  if (!accepted) return "429: too many requests"

  // The place is free again when the scope closes, also if this process dies.
  if (!(yield* acquire({ key: `streams/${account}`, max: 1 }))) return "429: too many streams"

  const reserved = yield* reserve({ key: `bytes/${account}`, limit: 1000, amount: bytes })
  if (reserved._tag === "Refused") return `429: ${reserved.remaining} bytes left today`

  // Half of it is sent when the client leaves: the rest is given back.
  yield* settle(reserved.reservation, bytes / 2)
  return `sent, ${remaining} requests left`
}, Effect.scoped)

export const example = Effect.forEach([800, 800, 400, 100], (bytes) => download("ada", bytes)).pipe(Effect.provide(
  Layer.mergeAll(RateLimit.layer, Places.layer, Budget.layer).pipe(
    // With a database: SqlRateLimitStore.layer and UnitOfWork.layerSql.
    Layer.provide(MemoryRateLimitStore.layer),
    Layer.provide(UnitOfWork.layerMemory),
    Layer.provide(SecureRandom.layerWebCrypto)
  )
))
