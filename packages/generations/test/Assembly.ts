/** The use-cases over real packages, and what a test needs to drive them. */
import type { Plan } from "@kinora/accounts"
import type { Account } from "@kinora/accounts/Account"
import { AccountId } from "@kinora/accounts/Account"
import { Catalog, DefaultModels, type Model } from "@kinora/catalog"
import { Generators, ScriptedGenerator } from "@kinora/generator"
import { Fingerprint, Idempotency, MemoryIdempotencyStore, SqlIdempotencyStore } from "@kinora/idempotency"
import { Ledger, MemoryLedgerStore, SqlLedgerStore } from "@kinora/ledger"
import { Media } from "@kinora/media"
import { Migrations, UnitOfWork } from "@kinora/persistence"
import { MemorySchedulerStore, Scheduler, SqlSchedulerStore, Wakeup, Worker } from "@kinora/scheduler"
import { BlobStore } from "@kinora/storage"
import type { TestDatabase } from "@kinora/testkit"
import {
  AddressGuard,
  MemoryWebhookStore,
  SecretBox,
  SqlWebhookStore,
  Wakeup as WebhookWakeup,
  Webhooks,
  WebhookStore
} from "@kinora/webhooks"
import { DateTime, Effect, Layer, Option, Redacted, type Schema } from "effect"
import { Aead, Digest, SecureRandom } from "effect/crypto"
import * as Changes from "../src/Changes.ts"
import * as GenerationEvent from "../src/GenerationEvent.ts"
import * as Generations from "../src/Generations.ts"
import * as GenerationSweep from "../src/GenerationSweep.ts"
import * as GenerationWorker from "../src/GenerationWorker.ts"
import * as MemoryGenerationStore from "../src/MemoryGenerationStore.ts"
import * as SqlGenerationStore from "../src/SqlGenerationStore.ts"
import * as Uploads from "../src/Uploads.ts"

const scripted = { name: "scripted", options: {} }

/** How many uploads an account can have in tests. */
export const uploadsMax = 3

/** As the default model, but from text alone. */
const fromText: Model.ModelInput = {
  ...DefaultModels.canvas,
  capabilities: ["text_to_image"],
  max_reference_images: 0,
  driver: scripted
}

/** Models made by script; one each that is paused, was withdrawn, starts from images, and makes videos. */
const models: ReadonlyArray<Model.ModelInput> = [
  { ...DefaultModels.sketch, driver: scripted },
  fromText,
  { ...fromText, id: "redraw-1", capabilities: ["text_to_image", "image_to_image"], max_reference_images: 2 },
  { ...fromText, id: "video-1", kind: "video", capabilities: ["text_to_video"], output_formats: ["video/mp4"] },
  { ...fromText, id: "paused-1", status: "paused" },
  { ...fromText, id: "withdrawn-1", status: "withdrawn" }
]

/** Media that takes every image as it is, at once, for tests of what happens around it. */
export const mediaThatTrusts: Layer.Layer<Media.Media> = Layer.sync(Media.Media, () => {
  const sides = { width: 3, height: 2 }
  const derive = (bytes: Uint8Array) => Effect.as(Effect.yieldNow, { mime: "image/webp" as const, bytes, ...sides })
  return Media.Media.of({
    normalise: (bytes) => Effect.as(Effect.yieldNow, { mime: "image/png" as const, bytes, ...sides }),
    preview: derive,
    thumb: derive
  })
})

/** Webhooks to anywhere, which nobody sends. */
const webhooks = Webhooks.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(
    WebhookWakeup.layer,
    Layer.succeed(AddressGuard.AddressGuard, {
      check: (url) => Effect.succeed({ url: new URL(url), addresses: ["192.0.2.1"] })
    }),
    SecretBox.layer({ keys: [Redacted.make("0123456789abcdef0123456789abcdef")] }).pipe(
      Layer.provide(Aead.layerWebCrypto.pipe(Layer.provide(SecureRandom.layerWebCrypto)))
    )
  ))
)

const servicesWith = (options: Scheduler.SchedulerOptions, media: Layer.Layer<Media.Media>) =>
  Layer.mergeAll(Generations.layer, GenerationSweep.layer, Uploads.layerWith({ uploadsMax })).pipe(
    Layer.provideMerge(Layer.mergeAll(Ledger.layer, Scheduler.layerWith(options), Idempotency.layer, webhooks)),
    Layer.provideMerge(Layer.mergeAll(
      Catalog.layer(models),
      Changes.layer,
      Wakeup.layer,
      BlobStore.layerMemory,
      media,
      SecureRandom.layerWebCrypto,
      Digest.layerWebCrypto,
      Generators.layer({ scripted: ScriptedGenerator.layer }).pipe(
        Layer.provideMerge(ScriptedGenerator.layerControl({ script: { delay: "hold" }, pollInterval: "20 millis" }))
      )
    ))
  )

/** All in this process's memory. */
export const layerMemoryWith = (options: Scheduler.SchedulerOptions, media = Media.layer()) =>
  servicesWith(options, media).pipe(
    Layer.provideMerge(Layer.mergeAll(
      MemoryLedgerStore.layer,
      MemorySchedulerStore.layer,
      MemoryIdempotencyStore.layer,
      MemoryGenerationStore.layer,
      MemoryWebhookStore.layer
    )),
    Layer.provideMerge(UnitOfWork.layerMemory)
  )

/** `layerMemoryWith` with the scheduler's defaults. */
export const layerMemory = layerMemoryWith({})

/** All in a database. */
export const layerSql = (
  database: TestDatabase.TestDatabase,
  options: Scheduler.SchedulerOptions = {},
  media = Media.layer()
) =>
  servicesWith(options, media).pipe(
    Layer.provideMerge(Layer.mergeAll(
      SqlLedgerStore.layer,
      SqlSchedulerStore.layer,
      SqlIdempotencyStore.layer,
      SqlGenerationStore.layer,
      SqlWebhookStore.layer
    )),
    Layer.provideMerge(UnitOfWork.layerSql),
    Layer.provideMerge(
      Migrations.layer(
        SqlLedgerStore.migrations,
        SqlSchedulerStore.migrations,
        SqlIdempotencyStore.migrations,
        SqlGenerationStore.migrations,
        SqlWebhookStore.migrations
      ).pipe(Layer.provideMerge(database))
    )
  )

/** A worker for as long as the scope lives. */
export const startWorker = Effect.fnUntraced(function*(concurrency = 4) {
  const handler = yield* GenerationWorker.makeHandler({})
  yield* Layer.build(Worker.layer({ name: "test", handlers: [handler], concurrency }))
})

/** An account with an active plan in both groups, and credits. */
export const openAccount = Effect.fnUntraced(function*(options: { readonly credits: number }) {
  const { grant } = yield* Ledger.Ledger
  const now = yield* DateTime.now
  const periodEnd = DateTime.add(now, { days: 30 })
  const account: Account = {
    id: yield* AccountId.make,
    email: "someone@example.com",
    status: "active",
    balanceCents: 0,
    createdAt: now,
    plans: {
      studio: Option.some<Plan.Plan<Plan.StudioTier>>({ tier: "pro", periodEnd, autoRenew: false }),
      credits: Option.some<Plan.Plan<Plan.CreditsTier>>({ tier: "pro", periodEnd, autoRenew: false })
    }
  }
  if (options.credits > 0) {
    yield* grant({
      account: account.id,
      reference: "start",
      kind: "plan",
      credits: options.credits,
      expiresAt: periodEnd,
      at: now
    })
  }
  return account
})

/** What the account is told from now on: answers with what claims all that was not yet claimed, oldest first. */
export const listen = Effect.fnUntraced(function*(account: Account["id"]) {
  const { create } = yield* Webhooks.Webhooks
  const store = yield* WebhookStore.WebhookStore
  const { endpoint: { id } } = yield* create(account, { url: "https://example.com/hooks" })
  return Effect.gen(function*() {
    const now = yield* DateTime.now
    const claimed = yield* store.claim([{ endpoint: id, limit: 1_000 }], now, DateTime.add(now, { days: 1_000 }))
    return yield* Effect.forEach(
      claimed,
      ({ event: { account, data, type } }) =>
        Effect.map(GenerationEvent.fromData(data), (generation) => ({ account, type, generation }))
    )
  })
})

/** A request for a picture. Without a key of its own it is matched by its body. */
export const request = Effect.fnUntraced(function*(
  account: Account,
  options: {
    readonly key?: string
    readonly plan?: "studio" | "credits"
    readonly model?: string
    readonly params?: Readonly<Record<string, Schema.Json>>
  } = {}
) {
  const { key, model = "kinora-canvas-1", params = { prompt: "a lake" }, plan = "credits" } = options
  const command: Generations.CreateCommand = {
    account,
    plan,
    model,
    params,
    identity: {
      scope: account.id,
      key,
      endpoint: "generations",
      fingerprint: yield* Fingerprint.make({ plan, model, params })
    }
  }
  return command
})
