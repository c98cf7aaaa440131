import { assert, it } from "@effect/vitest"
import { Readiness } from "@kinora/http-server"
import { BlobStore, UrlSigner } from "@kinora/storage"
import { Context, Effect, Exit, Fiber, Latch, Layer, Option, Redacted, Schema, Scope } from "effect"
import { HttpServer } from "effect/http"
import { TestClock } from "effect/testing"
import * as Drivers from "../src/Drivers.ts"
import * as Http from "../src/Http.ts"
import * as Notifications from "../src/Notifications.ts"
import * as OperatorListener from "../src/OperatorListener.ts"
import * as Services from "../src/Services.ts"
import * as Stores from "../src/Stores.ts"
import * as Webhook from "../src/Webhook.ts"

const services = Services.layer({}).pipe(
  Layer.provideMerge(Layer.mergeAll(
    Stores.layerMemory,
    BlobStore.layerMemory,
    Notifications.layerLocal,
    Drivers.layer(),
    Readiness.layerAlways,
    UrlSigner.layer({ keys: [Redacted.make("at least 32 bytes that only the service knows")] }),
    Webhook.layerProtection({ keys: [Redacted.make("at least 32 bytes that seal what the service keeps")] })
  ))
)

const server = Http.layer({ host: "127.0.0.1", port: 0, interface: {}, drain: "10 seconds", grace: 0 }).pipe(
  Layer.provide(services)
)

const NotReady = Schema.Struct({ error: Schema.Struct({ details: Schema.Json }) })

it.effect("accepts requests while it drains and /readyz returns 503, then refuses connections", () =>
  Effect.gen(function*() {
    const scope = yield* Scope.make()
    const context = yield* Layer.buildWithScope(server, scope)
    const baseUrl = yield* Effect.provide(HttpServer.addressFormattedWith(Effect.succeed), context)
    const get = (path: string) => Effect.tryPromise((signal) => fetch(`${baseUrl}${path}`, { signal }))
    assert.strictEqual((yield* get("/readyz")).status, 200)

    const stopping = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
    const refused = yield* get("/readyz")
    assert.strictEqual(refused.status, 503)
    const { error } = yield* Schema.decodeUnknownEffect(NotReady)(yield* Effect.promise(() => refused.json()))
    assert.deepStrictEqual(error.details, { not_ready: ["draining"] })
    assert.strictEqual((yield* get("/healthz")).status, 200)
    assert.strictEqual((yield* get("/v1/models")).status, 401)

    yield* TestClock.adjust("10 seconds")
    yield* Fiber.join(stopping)
    assert.isTrue(Exit.isFailure(yield* Effect.exit(get("/healthz"))))
  }))

it.effect("serves the metrics and the readiness of a worker until its work has stopped", () =>
  Effect.gen(function*() {
    const isStopping = yield* Latch.make()
    const mayStop = yield* Latch.make()
    const work = Layer.effectDiscard(
      Effect.addFinalizer(() => Effect.andThen(isStopping.open, mayStop.await))
    )
    const scope = yield* Scope.make()
    const context = yield* Http.layerWorker(work, { operator: { host: "127.0.0.1", port: 0 } }).pipe(
      Layer.provide(services),
      Layer.buildWithScope(scope)
    )
    const origin = Option.getOrThrow(Context.get(context, OperatorListener.OperatorOrigin))
    const get = (path: string) => Effect.tryPromise((signal) => fetch(`${origin}${path}`, { signal }))
    assert.strictEqual((yield* get("/healthz")).status, 200)
    assert.strictEqual((yield* get("/readyz")).status, 200)
    assert.strictEqual((yield* get("/metrics")).status, 200)
    assert.strictEqual((yield* get("/admin/v1/openapi.json")).status, 404)
    assert.strictEqual((yield* get("/v1/models")).status, 404)

    const stopping = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
    yield* isStopping.await
    assert.strictEqual((yield* get("/readyz")).status, 503)
    assert.strictEqual((yield* get("/metrics")).status, 200)
    yield* mayStop.open
    yield* Fiber.join(stopping)
    assert.isTrue(Exit.isFailure(yield* Effect.exit(get("/healthz"))))
  }))

it.effect("explains why the listener for operators cannot be opened", () =>
  Effect.gen(function*() {
    const first = yield* Http.layer({ host: "127.0.0.1", port: 0, interface: {}, grace: 0 }).pipe(
      Layer.provide(services),
      Layer.build
    )
    const { address } = Context.get(first, HttpServer.HttpServer)
    const port = address._tag === "UnixPathAddress" ? 0 : address.port
    const failureOf = (host: string, port: number) =>
      Http.layer({ host: "127.0.0.1", port: 0, interface: {}, operator: { host, port } }).pipe(
        Layer.provide(services),
        Layer.build,
        Effect.flip,
        Effect.map(({ message }) => message)
      )
    assert.strictEqual(
      yield* failureOf("127.0.0.1", port),
      `The listener for operators cannot be opened: port ${port} of 127.0.0.1 is in use. ` +
        "Set KINORA_ADMIN_PORT to another port, to 0 for any free port, or to off"
    )
    assert.strictEqual(
      yield* failureOf("192.0.2.1", 4748),
      "The listener for operators cannot be opened: port 4748 of 192.0.2.1 is not on this machine. " +
        "Check KINORA_ADMIN_HOST"
    )
  }).pipe(Effect.scoped))
