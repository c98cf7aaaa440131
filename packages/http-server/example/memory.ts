import { Changes, Services } from "@kinora/generations"
import { HttpServerRoutes, Readiness } from "@kinora/http-server"
import { Media } from "@kinora/media"
import { Limits } from "@kinora/rate-limit"
import { Wakeup } from "@kinora/scheduler"
import { BlobStore, UrlSigner } from "@kinora/storage"
import { AddressGuard, SecretBox, Wakeup as WebhookWakeup } from "@kinora/webhooks"
import { Layer, Redacted } from "effect"
import { Aead, Digest, SecureRandom } from "effect/crypto"
import { HttpRouter, HttpServer } from "effect/http"

const keys = [Redacted.make("at least 32 bytes that only the service has")] as const

const surroundings = Layer.mergeAll(BlobStore.layerMemory, UrlSigner.layer({ keys }), Readiness.layerAlways)
const webhooks = Layer.mergeAll(WebhookWakeup.layer, AddressGuard.layerWith(), SecretBox.layer({ keys }))

const services = Services.layer({}).pipe(
  Layer.provide([Media.layer(), Changes.layer, Wakeup.layer, webhooks.pipe(Layer.provide(Aead.layerWebCrypto))]),
  Layer.provide(Services.layerMemoryStores),
  Layer.provideMerge([surroundings, Limits.layerMemory, SecureRandom.layerWebCrypto, Digest.layerWebCrypto])
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
