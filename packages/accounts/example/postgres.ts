import { PgClient } from "@effect/sql-pg"
import { Accounts } from "@kinora/accounts"
import { Config, Console, Effect, Layer, Option } from "effect"

const program = Effect.gen(function*() {
  const accounts = yield* Accounts.Accounts
  const { id } = yield* accounts.create({ email: "ada@example.com" })
  const { key } = yield* accounts.createKey(id, "laptop")
  const identity = yield* accounts.authenticate(key)
  yield* Console.log(Option.isSome(identity))
})

const layer = Accounts.layerPostgres().pipe(
  Layer.provide(PgClient.layerConfig({ url: Config.Redacted("DATABASE_URL") }))
)

await Effect.runPromise(Effect.provide(program, layer))
// true
