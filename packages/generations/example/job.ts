import type { Account } from "@kinora/accounts/Account"
import { DefaultModels } from "@kinora/catalog"
import { Generations, GenerationWorker, Services } from "@kinora/generations"
import { Generators, ScriptedGenerator } from "@kinora/generator"
import { Fingerprint } from "@kinora/idempotency"
import { Ledger } from "@kinora/ledger"
import { Worker } from "@kinora/scheduler"
import { BlobStore } from "@kinora/storage"
import { DateTime, Effect, Layer, Redacted, Stream } from "effect"

/** Creates an image job, or returns the one that the same request created before. */
const request = Effect.fnUntraced(function*(account: Account, key: string, prompt: string) {
  const { create } = yield* Generations.Generations
  const body = { plan: "credits", model: "kinora-still", params: { prompt } } as const
  const fingerprint = yield* Fingerprint.make(body)
  const identity = { scope: account.id, key, endpoint: "generations", fingerprint }
  return yield* create({ account, ...body, identity })
})

/** Spends 20 credits on images that cost 8 each. */
export const example = Effect.fn("example")(function*(account: Account) {
  const { cancel, file, wait } = yield* Generations.Generations
  const { balances } = yield* Ledger.Ledger
  const { get } = yield* BlobStore.BlobStore

  // Charged and queued in one transaction. The repeated request returns the same job.
  const { generation } = yield* request(account, "lake", "a lake at dawn")
  const { replayed } = yield* request(account, "lake", "a lake at dawn")

  // A job that has not started can be cancelled and is refunded.
  const city = yield* request(account, "city", "a city in the rain")
  const cancelled = yield* cancel(account.id, city.generation.id)

  // The worker runs jobs until its scope closes, in this process or in another one.
  const handler = yield* GenerationWorker.makeHandler({})
  const worker = Worker.layer({ name: "worker-1", handlers: [handler] })
  const done = yield* wait(account.id, generation.id, "1 minute").pipe(Effect.provide(worker))

  const { file: stored } = yield* file(done.id, "content", account.id)
  const bytes = yield* Stream.runFold(get(stored.key), () => 0, (sum, chunk) => sum + chunk.length)

  // The credits do not cover a third image. The refused request leaves nothing behind.
  yield* request(account, "sea", "the sea")
  const refusal = yield* Effect.flip(request(account, "wood", "a wood"))
  const { credits } = yield* balances(account.id, yield* DateTime.now)

  return {
    statuses: [generation.status, cancelled.status, done.status],
    replayed,
    isWhole: bytes === stored.bytes,
    refusal: refusal._tag === "GenerationError" ? refusal.reason._tag : refusal._tag,
    credits
  }
})

const generators = Generators.layer({ scripted: ScriptedGenerator.layer }).pipe(
  Layer.provide(ScriptedGenerator.layerControl())
)

/** The use-cases and all services that they call, in memory. */
export const layer = Services.layerMemory({
  models: DefaultModels.models.map((model) => ({ ...model, driver: { name: "scripted" } })),
  webhookKeys: [Redacted.make("at least 32 bytes that only the service has")]
}).pipe(Layer.provideMerge(generators))
