import { PgClient } from "@effect/sql-pg"
import { Fingerprint, Idempotency, IdempotencyKey } from "@kinora/idempotency"
import { Config, Console, Effect, Layer, type Schema } from "effect"
import { Digest } from "effect/crypto"
import { SqlClient } from "effect/sql"

const database = PgClient.layerConfig({ url: Config.Redacted("DATABASE_URL") })

// Creates or updates the table, and deletes expired claims in the background.
const layer = Idempotency.layerSweep().pipe(
  Layer.provideMerge(Idempotency.layerPostgres()),
  Layer.provideMerge(Layer.merge(database, Digest.layerWebCrypto))
)

/** Places an order, or returns the id of the order that the same request has placed before. */
const placeOrder = Effect.fn("placeOrder")(function*(header: string, body: Schema.Json) {
  const { once } = yield* Idempotency.Idempotency
  const sql = yield* SqlClient.SqlClient
  const id = crypto.randomUUID()
  const claim = {
    scope: "ada/orders",
    // Undefined if the header is not a valid key.
    key: IdempotencyKey.parse(header) ?? IdempotencyKey.IdempotencyKey.Implicit({ endpoint: "orders" }),
    fingerprint: yield* Fingerprint.make(body),
    reference: id
  }
  // The claim and the order are committed together, or neither is.
  const outcome = yield* once(claim, sql`INSERT INTO orders (id) VALUES (${id})`)
  return outcome._tag === "Done" ? id : outcome.reference
})

const program = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE IF NOT EXISTS orders (id uuid PRIMARY KEY)`
  const key = crypto.randomUUID()
  const first = yield* placeOrder(key, { item: "lamp", count: 2 })
  const again = yield* placeOrder(key, { count: 2, item: "lamp" })
  yield* Console.log(first === again) // true
  const refused = yield* Effect.flip(placeOrder(key, { item: "chair", count: 1 }))
  yield* Console.log(refused.message) // The idempotency key belongs to a request with another body
})

await Effect.runPromise(program.pipe(Effect.provide(layer)))
