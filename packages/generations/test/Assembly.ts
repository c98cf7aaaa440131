/**
 * The services for tests, and functions to drive them. Uses the composition of
 * `Services`, as hosts do, with test generators and webhooks. Tests of this package
 * cannot import `@kinora/hosting`, which depends on it.
 */
import type { Plan, PlanTable } from "@kinora/accounts"
import type { Account } from "@kinora/accounts/Account"
import { AccountId } from "@kinora/accounts/Account"
import { Accounts } from "@kinora/accounts/Accounts"
import type * as KeyBudget from "@kinora/accounts/KeyBudget"
import { AddressGuard } from "@kinora/address-guard"
import { DefaultModels, type Model } from "@kinora/catalog"
import { Generators, ScriptedGenerator } from "@kinora/generator"
import { Fingerprint } from "@kinora/idempotency"
import { Ledger } from "@kinora/ledger"
import { Media } from "@kinora/media"
import { Migrations } from "@kinora/persistence"
import { type Scheduler, Wakeup, Worker } from "@kinora/scheduler"
import { BlobStore } from "@kinora/storage"
import type { TestDatabase } from "@kinora/testkit"
import { SecretBox, Wakeup as WebhookWakeup, Webhooks, WebhookStore } from "@kinora/webhooks"
import { DateTime, Effect, Layer, Option, Redacted, type Schema } from "effect"
import { Aead, Digest, SecureRandom } from "effect/crypto"
import { hash } from "node:crypto"
import * as Callbacks from "../src/Callbacks.ts"
import * as Changes from "../src/Changes.ts"
import type { CreateCommand } from "../src/CreateCommand.ts"
import * as GenerationEvent from "../src/GenerationEvent.ts"
import * as GenerationWorker from "../src/GenerationWorker.ts"
import * as Services from "../src/Services.ts"

const scripted = { name: "scripted", options: {} }

/** Maximum number of uploads of an account in tests. */
export const uploadsMax = 3

/** The default model without image input. */
const fromText: Model.ModelInput = {
  ...DefaultModels.still,
  capabilities: ["text_to_image"],
  max_reference_images: 0,
  driver: scripted
}

/** Models of the scripted generator, among them one that is paused, one withdrawn, one with image input, one for videos and one with a short time limit. */
export const models: ReadonlyArray<Model.ModelInput> = [
  { ...DefaultModels.draft, driver: scripted },
  fromText,
  { ...fromText, id: "redraw-1", capabilities: ["text_to_image", "image_to_image"], max_reference_images: 2 },
  { ...fromText, id: "video-1", kind: "video", capabilities: ["text_to_video"], output_formats: ["video/mp4"] },
  { ...fromText, id: "brief-1", time_limit: "1 minute" },
  { ...fromText, id: "paused-1", status: "paused" },
  { ...fromText, id: "withdrawn-1", status: "withdrawn" }
]

/**
 * Media that accepts every image unchanged, on this thread. The default, because the clock of a test does not wait for
 * the threads that decode images: tests of media use `Media.layer` and the clock of the host.
 */
export const mediaThatTrusts: Layer.Layer<Media.Media> = Layer.sync(Media.Media, () => {
  const sides = { width: 3, height: 2 }
  const derive = (bytes: Uint8Array) => Effect.as(Effect.yieldNow, { mime: "image/webp" as const, bytes, ...sides })
  return Media.Media.of({
    inspect: () => Effect.succeed({ mime: "image/png", ...sides }),
    normalise: (bytes) => Effect.as(Effect.yieldNow, { mime: "image/png" as const, bytes, ...sides }),
    preview: derive,
    thumb: derive,
    probe: () => Effect.succeed({ kind: "image", mime: "image/png", ...sides }),
    firstFrame: () => Effect.succeedNone,
    watermark: (bytes) => Effect.succeed({ mime: "image/png", bytes, ...sides }),
    canWatermarkVideos: Effect.succeed(false),
    watermarkVideo: () => Effect.die(new Error("There are no videos"))
  })
})

/** Hashes on this thread. WebCrypto uses another one, for which the clock of a test does not wait. */
const layerDigest: Layer.Layer<Digest.Digest> = Layer.succeed(Digest.Digest, {
  digest: ({ name }, data) => Effect.sync(() => hash(name, data, "buffer")),
  digestHex: ({ name }, data) => Effect.sync(() => hash(name, data))
})

/** The parts around the services: webhooks that may go to any address, and a generator that waits for each test's decision. */
const surroundings = (media: Layer.Layer<Media.Media>) =>
  Layer.mergeAll(
    BlobStore.layerMemory,
    Callbacks.layer,
    Changes.layer,
    Wakeup.layer,
    WebhookWakeup.layer,
    media,
    Layer.succeed(AddressGuard.AddressGuard, {
      check: (url) => Effect.succeed({ url: new URL(url), addresses: ["192.0.2.1"] })
    }),
    SecretBox.layer({ keys: [Redacted.make("0123456789abcdef0123456789abcdef")] }).pipe(
      Layer.provide(Aead.layerWebCrypto)
    ),
    Generators.layer({ scripted: ScriptedGenerator.layer }).pipe(
      Layer.provideMerge(ScriptedGenerator.layerControl({ script: { delay: "hold" }, pollInterval: "20 millis" }))
    )
  ).pipe(Layer.provideMerge(Layer.merge(SecureRandom.layerWebCrypto, layerDigest)))

/** The services over the surrounding stores. */
export const servicesWith = (
  scheduler: Scheduler.SchedulerOptions,
  media: Layer.Layer<Media.Media>,
  planTable?: PlanTable.PlanTable
) =>
  Services.layer({ models, planTable, scheduler, uploads: { uploadsMax } }).pipe(
    Layer.provideMerge(surroundings(media))
  )

/** The services in memory. */
export const layerMemoryWith = (options: Scheduler.SchedulerOptions, media = mediaThatTrusts) =>
  servicesWith(options, media).pipe(Layer.provideMerge(Services.layerMemoryStores))

/** `layerMemoryWith` with default options. */
export const layerMemory = layerMemoryWith({})

/** The services in a database. */
export const layerSql = (
  database: TestDatabase.TestDatabase,
  options: Scheduler.SchedulerOptions = {},
  media = mediaThatTrusts
) =>
  servicesWith(options, media).pipe(
    // Units take turns on the one connection of PGlite, on a machine that runs other tests.
    Layer.provideMerge(Services.layerSqlStoresWith({ deadline: "2 minutes" })),
    Layer.provideMerge(Migrations.layer(...Services.migrations).pipe(Layer.provideMerge(database)))
  )

/** Runs a worker until the scope closes. */
export const startWorker = Effect.fnUntraced(function*(
  concurrency = 4,
  options:
    & GenerationWorker.GenerationWorkerOptions
    & Pick<Parameters<typeof Worker.layer>[0], "lease" | "pollInterval" | "rescueInterval"> = {}
) {
  const { lease = "2 hours", pollInterval, rescueInterval = "5 seconds" } = options
  const handler = yield* GenerationWorker.makeHandler(options)
  // The clock of the tests is faster than a database can renew short leases.
  yield* Layer.build(
    Worker.layer({ name: "test", handlers: [handler], concurrency, lease, rescueInterval, pollInterval })
  )
})

/** Returns an account with an active plan in both groups, and grants it credits. */
export const openAccount = Effect.fnUntraced(function*(
  options: { readonly credits: number; readonly id?: AccountId }
) {
  const { grant } = yield* Ledger.Ledger
  const now = yield* DateTime.now
  const periodEnd = DateTime.add(now, { days: 30 })
  const account: Account = {
    id: options.id ?? (yield* AccountId.make),
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

/** Returns an account like `openAccount` that is stored and has an API key with this budget. */
export const openLimited = Effect.fnUntraced(function*(
  options: { readonly credits: number; readonly budget: Partial<KeyBudget.KeyBudget> }
) {
  const accounts = yield* Accounts
  const random = yield* SecureRandom.SecureRandom
  const { id } = yield* accounts.create({ email: `${yield* random.uuidV4()}@example.com` })
  const { record } = yield* accounts.createKey(id, "limited", {}, options.budget)
  return { account: yield* openAccount({ credits: options.credits, id }), key: record, budgetLine: record.line }
})

/** Registers an endpoint of the account. Returns an effect that claims and returns its new events, oldest first. */
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

/** Returns a command for an image. Without a key, it matches other commands with the same parameters. */
export const request = Effect.fnUntraced(function*(
  account: Account,
  options: {
    readonly key?: string
    /** Id of the API key of the request. */
    readonly apiKey?: string
    readonly plan?: "studio" | "credits"
    readonly model?: string
    readonly params?: Readonly<Record<string, Schema.Json>>
    readonly trialAllowed?: boolean
    readonly budgetLine?: CreateCommand["budgetLine"]
  } = {}
) {
  const { budgetLine } = options
  const { key, model = "kinora-still", params = { prompt: "a lake" }, plan = "credits", trialAllowed } = options
  const command: CreateCommand = {
    account,
    key: options.apiKey,
    plan,
    model,
    params,
    trialAllowed,
    budgetLine,
    identity: {
      scope: account.id,
      key,
      endpoint: "generations",
      fingerprint: yield* Fingerprint.make({ plan, model, params })
    }
  }
  return command
})
