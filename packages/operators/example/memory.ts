import { AuditLog, Operators } from "@kinora/operators"
import { Console, Effect } from "effect"

const program = Effect.gen(function*() {
  const operators = yield* Operators.Operators
  const audit = yield* AuditLog.AuditLog

  // `token` is redacted. Show it to its operator now, since it cannot be read again.
  const { operator, token } = yield* operators.create({ name: "Ada", role: "support" })
  const { id, role } = yield* operators.authenticate(token)
  yield* audit.append({
    actor: id,
    role,
    address: "192.0.2.1",
    requestId: "req-1",
    action: "suspendAccount",
    subject: "acct-1",
    before: { status: "active" },
    after: { status: "suspended" }
  })
  const [entry] = yield* audit.list({ subject: "acct-1", limit: 10 })

  yield* operators.revoke(operator.id)
  const rejected = yield* Effect.flip(operators.authenticate(token))
  yield* Console.log(entry?.role, entry?.action, rejected.message)
})

await Effect.runPromise(Effect.provide(program, Operators.layerMemory))
// support suspendAccount The token of the operator was rejected: revoked
