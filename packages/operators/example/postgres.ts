import { PgClient } from "@effect/sql-pg"
import { AuditLog, Operators } from "@kinora/operators"
import { UnitOfWork } from "@kinora/persistence"
import { Config, Console, Effect, Layer } from "effect"

const program = Effect.gen(function*() {
  const operators = yield* Operators.Operators
  const audit = yield* AuditLog.AuditLog
  const { atomically } = yield* UnitOfWork.UnitOfWork

  // The entry commits with the change that it records, or neither does.
  const { token } = yield* atomically(Effect.gen(function*() {
    const created = yield* operators.create({ name: "Ada", role: "auditor" })
    yield* audit.append({
      actor: "owner",
      role: "owner",
      address: "192.0.2.1",
      requestId: "req-1",
      action: "createOperator",
      subject: created.operator.id,
      before: null,
      after: { name: created.operator.name, role: created.operator.role }
    })
    return created
  }))
  yield* Console.log((yield* operators.authenticate(token)).role)
})

// Creates or updates the tables.
const layer = Operators.layerPostgres().pipe(
  Layer.provide(PgClient.layerConfig({ url: Config.Redacted("DATABASE_URL") }))
)

await Effect.runPromise(Effect.provide(program, layer))
// auditor
