import { PgClient } from "@effect/sql-pg"
import { Services } from "@kinora/generations"
import { HttpServerRoutes, Readiness } from "@kinora/http-server"
import { Limits } from "@kinora/rate-limit"
import { FileBlobStore, UrlSigner } from "@kinora/storage"
import { Config, Effect, Layer, Redacted } from "effect"
import { HttpRouter, HttpServer } from "effect/http"

const keys = [Redacted.make("at least 32 bytes that only the service has")] as const

// Creates or updates the tables of all packages. All processes use the same directory.
const services = Layer.mergeAll(
  Services.layerPostgres({ webhookKeys: keys }),
  Limits.layerPostgres(),
  UrlSigner.layer({ keys }),
  Readiness.layerAlways
).pipe(
  Layer.provideMerge(
    Layer.unwrap(Effect.map(Config.String("FILES"), (directory) => FileBlobStore.layer({ directory })))
  ),
  Layer.provide(PgClient.layerConfig({ url: Config.Redacted("DATABASE_URL") }))
)

const routes = HttpServerRoutes.layer.pipe(Layer.provide([services, HttpServer.layerServices]))
const { dispose, handler } = HttpRouter.toWebHandler(routes, { disableLogger: true })

for (const path of ["/readyz", "/v1/models"]) {
  const response = await handler(new Request(`https://api.example.com${path}`))
  console.log(response.status, await response.text())
}
await dispose()
// 200 {"status":"ready"}
// 401 {"error":{"code":"unauthorized","message":"A valid API key is required; send the header Authorization: Bearer <key>.","plan":null,"details":{}}}
