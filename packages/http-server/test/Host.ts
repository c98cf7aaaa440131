/** The whole service in memory, on the clock of the test, with the actions of workers. */
import { Accounts } from "@kinora/accounts"
import type { Account } from "@kinora/accounts/Account"
import { AddressGuard } from "@kinora/address-guard"
import { DefaultModels } from "@kinora/catalog"
import * as Callbacks from "@kinora/generations/Callbacks"
import * as Changes from "@kinora/generations/Changes"
import * as Generation from "@kinora/generations/Generation"
import * as Generations from "@kinora/generations/Generations"
import * as GenerationStore from "@kinora/generations/GenerationStore"
import * as Services from "@kinora/generations/Services"
import { Ledger } from "@kinora/ledger"
import { Media } from "@kinora/media"
import { PaymentProvider } from "@kinora/payments"
import { Migrations } from "@kinora/persistence"
import type { StorageError } from "@kinora/persistence/StorageError"
import { Budget, Places, RateLimit } from "@kinora/rate-limit"
import * as Wakeup from "@kinora/scheduler/Wakeup"
import { BlobStore, UrlSigner } from "@kinora/storage"
import type { TestDatabase } from "@kinora/testkit"
import { SecretBox, Wakeup as WebhookWakeup } from "@kinora/webhooks"
import { DateTime, Effect, Layer, Option, Redacted, type Schema, type Scope, Stream } from "effect"
import { Aead, Digest, SecureRandom } from "effect/crypto"
import { HttpEffect, HttpRouter, HttpServer, HttpServerRequest } from "effect/http"
import { TestClock } from "effect/testing"
import * as AdminRoutes from "../src/AdminRoutes.ts"
import type * as ConsoleRoutes from "../src/ConsoleRoutes.ts"
import type { HttpServerOptions } from "../src/HttpServerOptions.ts"
import * as HttpServerRoutes from "../src/HttpServerRoutes.ts"
import * as Readiness from "../src/Readiness.ts"

/** The start of every test: half a minute before a full one. */
export const startedAt = DateTime.makeUnsafe("2026-11-21T12:00:30.000Z")

const models = [
  DefaultModels.draft,
  DefaultModels.still,
  { ...DefaultModels.still, id: "paused-1", status: "paused" as const },
  {
    ...DefaultModels.still,
    id: "remix-1",
    capabilities: ["text_to_image", "image_to_image"] as const,
    max_reference_images: 2,
    response_format: "b64_json" as const
  },
  {
    ...DefaultModels.still,
    id: "film-1",
    kind: "video" as const,
    capabilities: ["text_to_video"] as const,
    max_reference_images: 0,
    output_formats: ["video/mp4"] as const
  }
]

/** A PNG of one pixel. */
export const pixel = Uint8Array.from(
  atob(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
  ),
  (letter) => letter.charCodeAt(0)
)

/** Encrypts endpoint secrets. Names in `.internal.example.com` resolve to private addresses. */
const webhookProtection = Layer.merge(
  AddressGuard.layerWith({
    ownDomains: ["api.example.com"],
    lookup: {
      addresses: (host) => Effect.succeed([host.endsWith(".internal.example.com") ? "10.0.0.1" : "1.1.1.1"]),
      aliases: () => Effect.succeed([])
    },
    ownAddresses: false
  }),
  SecretBox.layer({ keys: [Redacted.make("0123456789abcdef0123456789abcdef")] })
).pipe(Layer.provide(Aead.layerWebCrypto))

type ServicesOptions = Pick<Services.ServicesOptions, "moderation" | "paymentProvider" | "payments">

/** The stores of every service. */
type Stores = Layer.Success<typeof Services.layerSqlStores>

/** Every service except the server. */
const servicesOver = <E, R>(stores: Layer.Layer<Stores, E, R>, options: ServicesOptions) =>
  Layer.mergeAll(Services.layer({ models, ...options }), Budget.layer, RateLimit.layer).pipe(
    Layer.provideMerge(stores),
    Layer.provideMerge(Layer.mergeAll(
      BlobStore.layerMemory,
      Callbacks.layer,
      Changes.layer,
      Media.layer(),
      Readiness.layerAlways,
      UrlSigner.layer({ keys: [Redacted.make("0123456789abcdef0123456789abcdef")] }),
      Wakeup.layer,
      WebhookWakeup.layer,
      webhookProtection
    )),
    Layer.provideMerge(Layer.merge(Digest.layerWebCrypto, SecureRandom.layerWebCrypto))
  )

/** The services in memory. */
export const services = servicesOver(Services.layerMemoryStores, {})

/** The services and a router over an empty database, in real time. */
export const layerSql = (database: TestDatabase.TestDatabase) =>
  servicesOver(Services.layerSqlStores, {}).pipe(
    Layer.provideMerge(Migrations.layer(...Services.migrations).pipe(Layer.provideMerge(database))),
    Layer.provideMerge(HttpServer.layerServices)
  )

/** The services and a router, at `startedAt` of the clock of the test. */
export const layerWith = (options: ServicesOptions) =>
  servicesOver(Services.layerMemoryStores, options).pipe(
    Layer.provideMerge(HttpServer.layerServices),
    Layer.provide(Layer.effectDiscard(TestClock.setTime(startedAt.epochMilliseconds)))
  )

/** `layerWith` default options. */
export const layer = layerWith({})

/** A payment provider that opens every checkout. */
export const paymentProvider: Layer.Layer<PaymentProvider.PaymentProvider> = Layer.succeed(
  PaymentProvider.PaymentProvider,
  PaymentProvider.PaymentProvider.of({
    name: "stripe",
    open: ({ payment }) =>
      Effect.succeed({ reference: `cs_${payment}`, url: "https://pay.test", expiresAt: startedAt }),
    read: () => Effect.succeed({ _tag: "Open" }),
    verify: () => Effect.fail(new PaymentProvider.SignatureRejected())
  })
)

/** A response with its whole body. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Each `Set-Cookie`. */
  readonly cookies: ReadonlyArray<string>
  readonly text: string
  /** The body as JSON, or `undefined`. */
  readonly json: Schema.Json | undefined
}

/** The parts of a request. */
export interface Sent {
  readonly key?: Redacted.Redacted | string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Sent as JSON unless it is text, bytes or a stream. */
  readonly body?: unknown
  /** The address of the client. */
  readonly from?: string | undefined
}

/** Serves the routes, and those of the test, on the clock of the test. Returns a function that sends requests. */
export const start = Effect.fnUntraced(function*(
  options: Partial<HttpServerOptions> = {},
  routes: Layer.Layer<never, never, ConsoleRoutes.Requirements> = Layer.empty
) {
  const all = { baseUrl: "https://api.example.com", docs: false, ...options }
  const app = yield* HttpRouter.toHttpEffect(
    Layer.mergeAll(HttpServerRoutes.layerWith(all), AdminRoutes.layerWith(all), routes)
  )
  const context = yield* Effect.context()
  const handler = HttpEffect.toWebHandlerWith<never, HttpServerRequest.HttpServerRequest | Scope.Scope>(context)(
    Effect.updateService(
      app,
      HttpServerRequest.HttpServerRequest,
      (request) => request.modify({ remoteAddress: Option.fromUndefinedOr(request.headers["x-socket"]) })
    )
  )
  return Effect.fnUntraced(function*(method: string, path: string, sent: Sent = {}) {
    const headers: Record<string, string> = { "x-socket": sent.from ?? "203.0.113.9" }
    if (sent.key !== undefined) {
      headers["authorization"] = `Bearer ${typeof sent.key === "string" ? sent.key : Redacted.value(sent.key)}`
    }
    const isJson = !(sent.body === undefined || sent.body instanceof Uint8Array)
    if (isJson) headers["content-type"] = "application/json"
    Object.assign(headers, sent.headers)
    const body = bodyOf(sent.body)
    return yield* Effect.promise(async (signal): Promise<Answer> => {
      const response = await handler(
        new Request(`http://internal:8080${path}`, { method, headers, body, signal, duplex: "half" })
      )
      const text = await response.text()
      const isJson = response.headers.get("content-type") === "application/json"
      return {
        status: response.status,
        headers: Object.fromEntries(response.headers),
        cookies: response.headers.getSetCookie(),
        text,
        json: isJson && text !== "" ? JSON.parse(text) : undefined
      }
    })
  })
})

const bodyOf = (body: unknown) => {
  if (body === undefined) return null
  if (body instanceof Uint8Array) return new Uint8Array(body)
  if (body instanceof ReadableStream) return body
  return typeof body === "string" ? body : JSON.stringify(body)
}

/** Opens an account with credits, a key, and plans of both groups unless `plans` is `false`. */
export const openAccount = Effect.fnUntraced(function*(
  options: { readonly email?: string; readonly credits?: number; readonly plans?: boolean } = {}
) {
  const { credits = 100, email = "someone@example.com", plans = true } = options
  const accounts = yield* Accounts.Accounts
  const now = yield* DateTime.now
  const periodEnd = DateTime.add(now, { days: 30 })
  const { id } = yield* accounts.create({ email })
  if (plans) {
    yield* accounts.setPlan(id, "studio", Option.some({ tier: "pro", periodEnd, autoRenew: false }))
    yield* accounts.setPlan(id, "credits", Option.some({ tier: "pro", periodEnd, autoRenew: false }))
  }
  if (credits > 0) {
    const { grant } = yield* Ledger.Ledger
    yield* grant({ account: id, reference: "start", kind: "plan", credits, expiresAt: periodEnd, at: now })
  }
  const { key, record } = yield* accounts.createKey(id, "test")
  return { account: yield* accounts.get(id), key, keyId: record.id }
})

/** Returns the credits of the account, and the studio jobs charged today. */
export const balances = Effect.fnUntraced(function*(account: Account) {
  const ledger = yield* Ledger.Ledger
  const { credits, quotaUsed } = yield* ledger.balances(account.id, yield* DateTime.now)
  return { credits, quotaUsed: Object.fromEntries(quotaUsed) }
})

/** Acts as a worker that completes a job whose result expires after this many hours. */
export const complete = Effect.fnUntraced(function*(id: Generation.GenerationId, bytes: Uint8Array, hours = 24) {
  const blobs = yield* BlobStore.BlobStore
  const store = yield* GenerationStore.GenerationStore
  const at = yield* DateTime.now
  const { key, sha256 } = yield* blobs.put(`${id}/content`, Stream.make(bytes), {
    bytesMax: 1e9,
    contentType: "image/png"
  })
  const content = { key, mime: "image/png", bytes: bytes.length, sha256 }
  yield* store.start([{ id, at, attempt: 1, epoch: 1, worker: "test" }])
  yield* store.end([{
    id,
    status: "completed",
    failure: null,
    output: { content, preview: null, thumb: null, poster: null },
    resultExpiresAt: DateTime.add(at, { hours }),
    at
  }])
  yield* Changes.Changes.use((changes) => changes.publish([id]))
})

/** Acts as a worker whose job failed. */
export const fail = Effect.fnUntraced(
  function*(id: Generation.GenerationId, code: "content_rejected" | "upstream_error" = "content_rejected") {
    const store = yield* GenerationStore.GenerationStore
    const reason = code === "content_rejected" ? "safety" as const : "provider" as const
    const failure = { code, message: "The model refused the prompt.", reason }
    const at = yield* DateTime.now
    yield* store.end([{ id, status: "failed", failure, output: null, resultExpiresAt: null, at }])
    yield* Changes.Changes.use((changes) => changes.publish([id]))
  }
)

/** Waits until this many requests of the key hold a place of this kind. */
export const held = (
  kind: "wait" | "images",
  keyId: string,
  count: number
): Effect.Effect<void, StorageError, Places.Places> =>
  Effect.flatMap(
    Places.Places.use((places) => places.held(`${kind}:${keyId}`)),
    (now) => now === count ? Effect.void : Effect.andThen(Effect.yieldNow, held(kind, keyId, count))
  )

/** The newest job of an account. */
export const newest = Effect.fnUntraced(function*(account: Account) {
  const { list } = yield* Generations.Generations
  const { generations: [newest] } = yield* list(account.id, { limit: 1 })
  return newest === undefined ? yield* Effect.die(new Error("The account has no job")) : newest
})

/** Adds a completed job with these bytes as its result, with a thumbnail and without a preview. */
export const addCompleted = Effect.fnUntraced(function*(account: Account, bytes: Uint8Array) {
  const blobs = yield* BlobStore.BlobStore
  const now = yield* DateTime.now
  const id = yield* Generation.GenerationId.make
  const put = Effect.fnUntraced(function*(name: string, mime: string, bytes: Uint8Array) {
    const options = { bytesMax: 1e9, contentType: mime }
    const { key, sha256 } = yield* blobs.put(`${id}/${name}`, Stream.make(bytes), options)
    return { key, mime, bytes: bytes.length, sha256 }
  })
  const generation: Generation.Generation = {
    id,
    account: account.id,
    key: null,
    model: "kinora-still",
    kind: "image",
    mode: "text_to_image",
    plan: "credits",
    status: "completed",
    prompt: "a lake",
    params: { aspect_ratio: "1:1", resolution: "1k" },
    images: [],
    costCredits: 8,
    quotaKind: null,
    watermark: false,
    refunded: false,
    failure: null,
    output: {
      content: yield* put("content", "image/png", bytes),
      preview: null,
      thumb: yield* put("thumb", "image/webp", bytes.subarray(0, 3)),
      poster: null
    },
    resultExpiresAt: DateTime.add(now, { hours: 24 }),
    createdAt: now,
    startedAt: now,
    finishedAt: now
  }
  yield* GenerationStore.GenerationStore.use((store) => store.insert([generation]))
  return generation
})
