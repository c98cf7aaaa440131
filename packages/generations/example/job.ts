import type { Account } from "@kinora/accounts/Account"
import { Catalog, DefaultModels } from "@kinora/catalog"
import { Changes, Generations, GenerationSweep, GenerationWorker, MemoryGenerationStore } from "@kinora/generations"
import { Generators, ScriptedGenerator } from "@kinora/generator"
import { Fingerprint, Idempotency, MemoryIdempotencyStore } from "@kinora/idempotency"
import { Ledger, MemoryLedgerStore } from "@kinora/ledger"
import { Media } from "@kinora/media"
import { UnitOfWork } from "@kinora/persistence"
import { MemorySchedulerStore, Scheduler, Wakeup, Worker } from "@kinora/scheduler"
import { BlobStore } from "@kinora/storage"
import { AddressGuard, MemoryWebhookStore, SecretBox, Wakeup as WebhookWakeup, Webhooks } from "@kinora/webhooks"
import { DateTime, Effect, Layer, Redacted, Stream } from "effect"
import { Aead, Digest, SecureRandom } from "effect/crypto"

/** Asks for a picture in the account's name. The same request twice is one job. */
const request = Effect.fnUntraced(function*(account: Account, key: string, prompt: string) {
  const { create } = yield* Generations.Generations
  const asked = { plan: "credits", model: "kinora-canvas-1", params: { prompt } } as const
  const fingerprint = yield* Fingerprint.make(asked)
  const identity = { scope: account.id, key, endpoint: "generations", fingerprint }
  return yield* create({ account, ...asked, identity })
})

/** What an account gets for 20 credits, when a picture costs 8. */
export const example = Effect.fn("example")(function*(account: Account) {
  const { cancel, file, wait } = yield* Generations.Generations
  const { balances } = yield* Ledger.Ledger
  const { get } = yield* BlobStore.BlobStore

  // Charged and queued, or neither. Asked again, it is found.
  const { generation } = yield* request(account, "lake", "a lake at dawn")
  const { replayed } = yield* request(account, "lake", "a lake at dawn")

  // What has not started can be cancelled, and is refunded.
  const city = yield* request(account, "city", "a city in the rain")
  const cancelled = yield* cancel(account.id, city.generation.id)

  // A worker runs for as long as its process does, here or in another one.
  const handler = yield* GenerationWorker.makeHandler({})
  const worker = Worker.layer({ name: "worker-1", handlers: [handler] })
  const done = yield* wait(account.id, generation.id, "1 minute").pipe(Effect.provide(worker))

  const { file: stored } = yield* file(done.id, "content", account.id)
  const bytes = yield* Stream.runFold(get(stored.key), () => 0, (sum, chunk) => sum + chunk.length)

  // A third picture is more than the credits pay for. It leaves nothing behind.
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

/** Records what accounts are told, and where. What sends it is `DeliveryWorker`. */
const webhooks = Webhooks.layer.pipe(
  Layer.provide(Layer.mergeAll(
    AddressGuard.layerWith(),
    SecretBox.layer({ keys: [Redacted.make("at least 32 bytes that only the service knows")] }),
    WebhookWakeup.layer
  )),
  Layer.provide(Aead.layerWebCrypto)
)

/** The use-cases and all that they are built on, in memory. */
export const layer = Layer.mergeAll(Generations.layer, GenerationSweep.layer).pipe(
  Layer.provideMerge(Layer.mergeAll(Ledger.layer, Scheduler.layer(), Idempotency.layer, webhooks)),
  Layer.provideMerge(Layer.mergeAll(
    Catalog.layer(DefaultModels.models.map((model) => ({ ...model, driver: { name: "scripted" } }))),
    Generators.layer({ scripted: ScriptedGenerator.layer }).pipe(Layer.provide(ScriptedGenerator.layerControl())),
    Changes.layer,
    Wakeup.layer,
    Media.layer(),
    SecureRandom.layerWebCrypto,
    Digest.layerWebCrypto,
    // With a directory: FileBlobStore.layer({ directory }).
    BlobStore.layerMemory
  )),
  // With a database: the Sql stores, UnitOfWork.layerSql, and Migrations.layer with the migrations of each.
  Layer.provideMerge(Layer.mergeAll(
    MemoryGenerationStore.layer,
    MemoryLedgerStore.layer,
    MemorySchedulerStore.layer,
    MemoryIdempotencyStore.layer,
    MemoryWebhookStore.layer
  )),
  Layer.provideMerge(UnitOfWork.layerMemory)
)
