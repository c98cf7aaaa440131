import { Accounts } from "@kinora/accounts"
import { Generations, Services } from "@kinora/generations"
import { Fingerprint } from "@kinora/idempotency"
import { Ledger } from "@kinora/ledger"
import { Console, DateTime, Effect, Option, Redacted } from "effect"

const program = Effect.gen(function*() {
  const accounts = yield* Accounts.Accounts
  const ledger = yield* Ledger.Ledger
  const { cancel, create } = yield* Generations.Generations
  const at = yield* DateTime.now
  const expiresAt = DateTime.add(at, { days: 30 })
  const { id } = yield* accounts.create({ email: "ada@example.com" })
  yield* accounts.setPlan(id, "credits", Option.some({ tier: "pro", periodEnd: expiresAt, autoRenew: false }))
  yield* ledger.grant({ account: id, reference: "2026-11", kind: "plan", credits: 100, expiresAt, at })

  // The job is charged and queued in one transaction. The repeated request returns the same job.
  const request = { plan: "credits", model: "kinora-still", params: { prompt: "a lake" } } as const
  const identity = { scope: id, key: "lake", endpoint: "generations", fingerprint: yield* Fingerprint.make(request) }
  const command = { account: yield* accounts.get(id), ...request, identity }
  const { generation } = yield* create(command)
  const { replayed } = yield* create(command)
  yield* Console.log(generation.status, replayed, (yield* ledger.balances(id, at)).credits)

  // A cancelled job is refunded.
  const { status } = yield* cancel(id, generation.id)
  yield* Console.log(status, (yield* ledger.balances(id, at)).credits)
})

const layer = Services.layerMemory({ webhookKeys: [Redacted.make("at least 32 bytes that only the service has")] })

await Effect.runPromise(Effect.provide(program, layer))
// queued true 92
// cancelled 100
