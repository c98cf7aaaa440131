import { PgClient } from "@effect/sql-pg"
import { Limits, RateLimit } from "@kinora/rate-limit"
import { Config, Console, Effect, Layer } from "effect"

const database = PgClient.layerConfig({ url: Config.Redacted("DATABASE_URL") })

// Creates or updates the tables, and deletes past counters in the background.
const limitsLayer = Limits.layerSweep().pipe(
  Layer.provideMerge(Limits.layerPostgres()),
  Layer.provide(database)
)

const program = Effect.gen(function*() {
  const { hit } = yield* RateLimit.RateLimit
  for (let n = 0; n < 3; n++) {
    const { accepted, remaining } = yield* hit({ key: "requests/ada", limit: 2 })
    yield* Console.log(accepted, remaining) // true 1, true 0, false 0
  }
})

await Effect.runPromise(program.pipe(Effect.provide(limitsLayer)))
