import { PgClient } from "@effect/sql-pg"
import { ApiKeys } from "@kinora/api-keys"
import { Config, Console, Effect, Layer, Option } from "effect"

const database = PgClient.layerConfig({ url: Config.Redacted("DATABASE_URL") })

// Creates or updates the tables, and deletes keys that ended 90 days ago in the background.
const layer = ApiKeys.layerSweep().pipe(
  Layer.provideMerge(ApiKeys.layerPostgres({ prefix: "acme_" })),
  Layer.provide(database)
)

const program = Effect.gen(function*() {
  const keys = yield* ApiKeys.ApiKeys
  const { key, record } = yield* keys.create({ owner: "ada", name: "laptop", metadata: { environment: "test" } })
  // Replaces the key. The former one stays active for a day, so that every server can switch.
  const rolled = yield* keys.roll({ owner: "ada", id: record.id, overlap: "1 day" })
  const verified = yield* Effect.forEach([key, rolled.key], (key) => keys.verify(key))
  yield* Console.log(verified.every(Option.isSome), (yield* keys.list("ada")).length) // true 2
})

await Effect.runPromise(program.pipe(Effect.provide(layer)))
