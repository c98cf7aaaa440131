import { assert, it } from "@effect/vitest"
import { Readiness } from "@kinora/http-server"
import { BlobStore, UrlSigner } from "@kinora/storage"
import { Effect, Exit, Fiber, Layer, Redacted, Schema, Scope } from "effect"
import { HttpServer } from "effect/http"
import { TestClock } from "effect/testing"
import * as Drivers from "../src/Drivers.ts"
import * as Http from "../src/Http.ts"
import * as Notifications from "../src/Notifications.ts"
import * as Services from "../src/Services.ts"
import * as Stores from "../src/Stores.ts"
import * as Webhook from "../src/Webhook.ts"

const server = Http.layer({ host: "127.0.0.1", port: 0, interface: {}, drain: "10 seconds", grace: 0 }).pipe(
  Layer.provide(Readiness.layerAlways),
  Layer.provide(UrlSigner.layer({ keys: [Redacted.make("at least 32 bytes that only the service knows")] })),
  Layer.provide(Services.layer({})),
  Layer.provide([
    Stores.layerMemory,
    BlobStore.layerMemory,
    Notifications.layerLocal,
    Drivers.layer(),
    Webhook.layerProtection({ keys: [Redacted.make("at least 32 bytes that seal what the service keeps")] })
  ])
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
