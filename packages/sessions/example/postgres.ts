import { PgClient } from "@effect/sql-pg"
import { UnitOfWork } from "@kinora/persistence"
import { Sessions } from "@kinora/sessions"
import { Config, Console, Effect, Layer, Option } from "effect"

const client = { device: Option.none(), address: "192.0.2.1" }

const program = Effect.gen(function*() {
  const sessions = yield* Sessions.Sessions
  const { atomically } = yield* UnitOfWork.UnitOfWork

  // The code and the record of its creation commit together, or neither does.
  const { code } = yield* atomically(
    sessions.createCode({ scope: "operator", operator: "opr-1", role: "support" })
  )
  yield* sessions.redeem(code, client)
  const rejected = yield* Effect.flip(sessions.redeem(code, client))
  yield* Console.log(rejected.message)
})

// Creates or updates the tables.
const layer = Sessions.layerPostgres().pipe(
  Layer.provide(PgClient.layerConfig({ url: Config.Redacted("DATABASE_URL") }))
)

await Effect.runPromise(Effect.provide(program, layer))
// The sign-in code was rejected: unknown
