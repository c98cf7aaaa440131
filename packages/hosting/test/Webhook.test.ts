import { assert, it } from "@effect/vitest"
import { Generation, GenerationEvent } from "@kinora/generations"
import { UnitOfWork } from "@kinora/persistence"
import { UrlSigner } from "@kinora/storage"
import { Transport, Webhooks, WebhookStore } from "@kinora/webhooks"
import { Context, DateTime, Deferred, Effect, Exit, Fiber, Latch, Layer, Logger, Queue, Redacted, Scope } from "effect"
import { TestClock } from "effect/testing"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Crypto from "../src/Crypto.ts"
import type * as Keys from "../src/Keys.ts"
import * as Notifications from "../src/Notifications.ts"
import * as Settings from "../src/Settings.ts"
import * as Stores from "../src/Stores.ts"
import * as Webhook from "../src/Webhook.ts"

const account = "acct"
const url = "https://hooks.example.com/"

const keysOf = (...names: readonly [string, ...ReadonlyArray<string>]): Keys.Keys => {
  const [first, ...others] = names.map((name) => Redacted.make(`the key ${name} of the secrets of endpoints`))
  return [first!, ...others]
}

const lookup = { addresses: () => Effect.succeed(["1.1.1.1"]), aliases: () => Effect.succeed([]) }

const stores = Layer.mergeAll(Stores.layerMemory, Notifications.layerLocal, Crypto.layerSecureRandom)

/** Webhooks of a process with these keys, over the given stores. */
const webhooksWith = (keys: Keys.Keys) =>
  Layer.fresh(Webhooks.layer).pipe(Layer.provideMerge(Webhook.layerProtection({ keys, lookup })))

/** Collects log messages with their levels. */
const makeLog = () => {
  const lines: Array<string> = []
  const logger = Logger.make(({ logLevel, message }) => {
    lines.push(`${logLevel}: ${[message].flat().map((part) => typeof part === "string" ? part : "").join("")}`)
  })
  return { lines, layer: Logger.layer([logger]) }
}

it.effect("stops the start of a process that lacks the key of a secret, unless it sends no webhooks", () =>
  Effect.gen(function*() {
    const { id } = (yield* Webhooks.Webhooks.use(({ create }) => create(account, { url })).pipe(
      Effect.provide(webhooksWith(keysOf("a")))
    )).endpoint
    const startWith = (keys: Keys.Keys, webhookSends: number) =>
      Webhook.checkKeys({ webhookSends }).pipe(Effect.provide(webhooksWith(keys)))
    yield* startWith(keysOf("a"), 1)
    yield* startWith(keysOf("b", "a"), 1)

    const error = yield* Effect.flip(startWith(keysOf("b"), 1))
    assert.include(error.message, `KINORA_WEBHOOK_KEYS lacks the key that encrypted the secret of ${id}. `)

    const log = makeLog()
    yield* startWith(keysOf("b"), 0).pipe(Effect.provide(log.layer))
    assert.deepStrictEqual(log.lines, [`Error: ${error.message}`])
    // The message names the remedy: a new secret.
    yield* Webhooks.Webhooks.use(({ rotate }) => rotate(account, id)).pipe(Effect.provide(webhooksWith(keysOf("b"))))
    yield* startWith(keysOf("b"), 1)
  }).pipe(Effect.provide(stores)))

it.effect("starts if the secret of an endpoint is damaged", () =>
  Effect.gen(function*() {
    const { create } = yield* Webhooks.Webhooks
    const { id } = (yield* create(account, { url })).endpoint
    const store = yield* WebhookStore.WebhookStore
    const { atomically } = yield* UnitOfWork.UnitOfWork
    const { endpoint, secrets } = (yield* atomically(store.loadEndpoint(account, id)))!
    const damaged = secrets.map((secret) => ({ ...secret, sealed: `${secret.sealed.slice(0, -8)}AAAAAAAA` }))
    yield* store.saveEndpoint({ endpoint, secrets: damaged })
    yield* Webhook.checkKeys({ webhookSends: 1 }).pipe(Effect.provide(webhooksWith(keysOf("b", "a"))))
  }).pipe(Effect.provide(Layer.provideMerge(webhooksWith(keysOf("a")), stores))))

it.effect("rejects the host of base_url, own domains and their subdomains as receivers", () =>
  Effect.gen(function*() {
    const { create } = yield* Webhooks.Webhooks
    for (const host of ["media.example.com", "eu.media.example.com", "example.net", "www.example.net"]) {
      const problem = yield* create(account, { url: `https://${host}/` }).pipe(
        Effect.catchReason("WebhooksError", "AddressRefused", ({ problem }) => Effect.succeed(problem))
      )
      assert.strictEqual(problem, "own_domain", host)
    }
  }).pipe(
    Effect.provide(Layer.provideMerge(
      webhooksOf({ KINORA_BASE_URL: "https://media.example.com:8443", KINORA_WEBHOOK_OWN_DOMAINS: "example.net" }),
      stores
    ))
  ))

it.effect("logs a warning at the start and accepts private addresses if they are allowed", () =>
  Effect.gen(function*() {
    const log = makeLog()
    const register = Webhooks.Webhooks.use(({ create }) => create(account, { url: "http://127.0.0.1:1/" }))
    yield* Effect.flip(register).pipe(Effect.provide([webhooksOf({}), log.layer]))
    assert.deepStrictEqual(log.lines, [])
    yield* register.pipe(Effect.provide(
      webhooksOf({ KINORA_WEBHOOK_ALLOW_PRIVATE: "true" }).pipe(
        Layer.provideMerge(log.layer)
      )
    ))
    assert.strictEqual(log.lines.length, 1)
    assert.match(log.lines[0]!, /^Warn: Webhooks may go to private addresses/)
  }).pipe(Effect.provide(stores)))

it.effect("accepts receivers in allowed networks and rejects those in others", () =>
  Effect.gen(function*() {
    const { create } = yield* Webhooks.Webhooks
    yield* create(account, { url: "http://10.20.0.7:5678/hooks" })
    for (const url of ["https://10.21.0.7/", "https://169.254.169.254/", "https://127.0.0.1/"]) {
      const problem = yield* create(account, { url }).pipe(
        Effect.catchReason("WebhooksError", "AddressRefused", ({ problem }) => Effect.succeed(problem))
      )
      assert.strictEqual(problem, "address", url)
    }
  }).pipe(
    Effect.provide(Layer.provideMerge(webhooksOf({ KINORA_WEBHOOK_ALLOWED_NETWORKS: "10.20.0.0/16" }), stores))
  ))

it.live("drains within the time limit of a send and stores the outcome of sends in progress", () =>
  Effect.gen(function*() {
    const { create, sends, test } = yield* Webhooks.Webhooks
    const { endpoint } = yield* create(account, { url })
    const arrived = yield* Queue.unbounded<Transport.TransportRequest>()
    const answer = yield* Latch.make()
    const transport = Layer.succeed(Transport.Transport, {
      send: (request) =>
        Effect.andThen(Queue.offer(arrived, request), answer.await).pipe(
          Effect.as({ reason: "ok", httpStatus: 200 } as const)
        )
    })
    const scope = yield* Scope.make()
    const worker = yield* Layer.buildWithScope(
      Webhook.layerWorker({ sends: 4, baseUrl: "https://media.example.com" }).pipe(
        Layer.provide([transport, UrlSigner.layer({ keys: keysOf("of links, which is long enough") })])
      ),
      scope
    )
    yield* test(account, endpoint.id)
    assert.strictEqual((yield* Queue.take(arrived)).url, url)

    yield* Effect.flatten(Effect.provide(Webhook.startDrain, worker))
    const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
    assert.isUndefined(closing.pollUnsafe())
    yield* answer.open
    yield* Fiber.join(closing)
    assert.deepStrictEqual((yield* sends(account, endpoint.id)).map(({ reason }) => reason), ["ok"])
  }).pipe(Effect.provide(Layer.provideMerge(webhooksWith(keysOf("a")), stores))))

it.live("logs once that links may be unreachable if base_url is unset", () =>
  Effect.gen(function*() {
    const { create, publish } = yield* Webhooks.Webhooks
    const { atomically } = yield* UnitOfWork.UnitOfWork
    yield* create(account, { url })
    const arrived = yield* Queue.unbounded<Transport.TransportRequest>()
    const transport = Layer.succeed(Transport.Transport, {
      send: (request) => Effect.as(Queue.offer(arrived, request), { reason: "ok", httpStatus: 200 } as const)
    })
    const log = makeLog()
    const origin = yield* Deferred.make<string>()
    yield* Layer.build(
      Webhook.layerWorker({ sends: 4, baseUrl: Deferred.await(origin) }).pipe(
        Layer.provide([transport, UrlSigner.layer({ keys: keysOf("of links, which is long enough") }), log.layer])
      )
    )
    for (const type of ["order.paid", "order.sent"]) yield* atomically(publish([{ account, type, data: {} }]))
    yield* Deferred.succeed(origin, "http://127.0.0.1:4747")
    yield* Queue.takeN(arrived, 2)
    assert.deepStrictEqual(log.lines, [
      "Warn: Links in webhooks may be unreachable for their receivers: set KINORA_BASE_URL"
    ])
  }).pipe(Effect.scoped, Effect.provide(Layer.provideMerge(webhooksWith(keysOf("a")), stores))))

it.effect("repeats a body after a crash during its first send, also with another key of links and another base URL", () =>
  Effect.gen(function*() {
    const { create, publish } = yield* Webhooks.Webhooks
    const { atomically } = yield* UnitOfWork.UnitOfWork
    yield* create(account, { url })
    yield* atomically(publish(GenerationEvent.ofChanged([yield* completed])))
    const arrived = yield* Queue.unbounded<Transport.TransportRequest>()
    const bodyFrom = Effect.fnUntraced(function*(baseUrl: string, key: string) {
      const transport = Layer.succeed(Transport.Transport, {
        // As after a crash, no outcome is stored.
        send: (request) => Effect.andThen(Queue.offer(arrived, request), Effect.die("crash"))
      })
      const worker = Webhook.layerWorker({ sends: 4, baseUrl }).pipe(
        Layer.provide([transport, UrlSigner.layer({ keys: keysOf(key) })])
      )
      const scope = yield* Scope.make()
      yield* Layer.buildWithScope(worker, scope)
      const { body } = yield* Queue.take(arrived)
      yield* Scope.close(scope, Exit.void)
      // The lease ends.
      yield* TestClock.adjust("30 seconds")
      return new TextDecoder().decode(body)
    })
    const first = yield* bodyFrom("https://media.example.com", "of links, which is long enough")
    assert.match(first, /"url":"https:\/\/media\.example\.com\/v1\/generations\/[^"]*&sig=/)
    assert.strictEqual(yield* bodyFrom("https://media.example.net", "of links after a rotation"), first)
  }).pipe(Effect.provide(Layer.provideMerge(webhooksWith(keysOf("a")), stores))))

it.live("sends nothing if sends is 0", () =>
  Effect.gen(function*() {
    const transport = Layer.succeed(Transport.Transport, { send: () => Effect.die("sent") })
    const worker = Webhook.layerWorker({ sends: 0, baseUrl: Effect.die("asked for") }).pipe(
      Layer.provide([transport, UrlSigner.layer({ keys: keysOf("of links, which is long enough") })])
    )
    const { drain } = yield* Effect.map(Layer.build(worker), Context.get(Webhook.Sender))
    yield* drain
  }).pipe(Effect.scoped, Effect.provide(Layer.provideMerge(webhooksWith(keysOf("a")), stores))))

/** A generation with a result. */
const completed = Effect.gen(function*() {
  const now = yield* DateTime.now
  const generation: Generation.Generation = {
    id: yield* Generation.GenerationId.make,
    account,
    key: null,
    model: "still",
    kind: "image",
    mode: "text_to_image",
    plan: "credits",
    status: "completed",
    prompt: "a lake",
    params: {},
    images: [],
    costCredits: 8,
    quotaKind: null,
    watermark: false,
    refunded: false,
    failure: null,
    output: {
      content: { key: "content", mime: "image/png", bytes: 10, sha256: "" },
      preview: null,
      thumb: null,
      poster: null
    },
    resultExpiresAt: DateTime.add(now, { hours: 24 }),
    createdAt: now,
    startedAt: now,
    finishedAt: now
  }
  return generation
})

/** Builds the protection with these settings. */
const webhooksOf = (environment: Readonly<Record<string, string>>) =>
  Layer.unwrap(Effect.gen(function*() {
    const directory = yield* Effect.acquireRelease(
      Effect.promise(() => mkdtemp(join(tmpdir(), "kinora-webhook-"))),
      (directory) => Effect.promise(() => rm(directory, { recursive: true }))
    )
    const settings = yield* Settings.load({ KINORA_DATA_DIR: directory, ...environment })
    return Layer.fresh(Webhooks.layer).pipe(Layer.provide(Webhook.layerProtectionOf(settings)))
  }))
