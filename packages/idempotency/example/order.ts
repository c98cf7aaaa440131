import { Fingerprint, Idempotency, IdempotencyKey, MemoryIdempotencyStore } from "@kinora/idempotency"
import { UnitOfWork } from "@kinora/persistence"
import { DateTime, Effect, Layer, type Schema } from "effect"
import { Digest } from "effect/crypto"

const orders: Array<Schema.Json> = []

/** Places an order, or finds the one that the same request has placed before. */
const placeOrder = Effect.fn("placeOrder")(function*(key: string, id: string, body: Schema.Json) {
  const idempotency = yield* Idempotency.Idempotency
  const claim = {
    scope: "account-1/orders",
    // Without a key in the request: IdempotencyKey.IdempotencyKey.Implicit({ endpoint: "orders" }).
    key: IdempotencyKey.parse(key) ?? (yield* Effect.die("answer 400")),
    fingerprint: yield* Fingerprint.make(body),
    at: yield* DateTime.now,
    reference: id
  }
  // The claim and the order commit together, or neither does.
  const outcome = yield* idempotency.once(claim, Effect.sync(() => orders.push(body)))
  return outcome._tag === "Done" ? { id, replayed: false } : { id: outcome.reference, replayed: true }
})

export const example = Effect.gen(function*() {
  const first = yield* placeOrder("k-1", "order-1", { item: "lamp", count: 2 })
  const again = yield* placeOrder("k-1", "order-2", { count: 2, item: "lamp" })
  const other = yield* Effect.flip(placeOrder("k-1", "order-3", { item: "chair", count: 1 }))
  const refusal = other._tag === "IdempotencyError" ? other.reason._tag : other._tag
  return { first, again, refusal, orders: orders.length }
}).pipe(Effect.provide(
  Idempotency.layer.pipe(
    // With a database: SqlIdempotencyStore.layer and UnitOfWork.layerSql.
    Layer.provide(MemoryIdempotencyStore.layer),
    Layer.provide(UnitOfWork.layerMemory),
    Layer.provideMerge(Digest.layerWebCrypto)
  )
))
