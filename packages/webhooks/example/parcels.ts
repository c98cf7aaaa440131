import { UnitOfWork } from "@kinora/persistence"
import {
  AddressGuard,
  DeliveryWorker,
  MemoryWebhookStore,
  SecretBox,
  UndiciTransport,
  Wakeup,
  Webhooks
} from "@kinora/webhooks"
import { Effect, Layer, type Redacted } from "effect"
import { Aead, Digest, SecureRandom } from "effect/crypto"

/** Ships a parcel and tells the customer: both, or neither. Nobody waits for the customer's server. */
const ship = Effect.fn("ship")(function*(customer: string, parcel: string) {
  const { atomically } = yield* UnitOfWork.UnitOfWork
  const { publish } = yield* Webhooks.Webhooks
  yield* atomically(Effect.gen(function*() {
    // Here stands what the service writes of its own.
    yield* publish([{ account: customer, type: "parcel.shipped", data: { parcel } }])
  }))
})

/** A customer registers a URL, gets the secret this once, and is told of one of two events. */
export const example = Effect.fn("example")(function*(url: string) {
  const webhooks = yield* Webhooks.Webhooks
  const { secret } = yield* webhooks.create("ada", { url, types: ["parcel.shipped"] })
  yield* ship("ada", "P-1")
  yield* ship("somebody else", "P-2")
  return secret
})

/** What a process that registers, publishes and sends is made of. */
export const layer = (key: Redacted.Redacted) =>
  DeliveryWorker.layerWith({ headerPrefix: "X-Parcels-", userAgent: "Parcels/1.0" }).pipe(
    Layer.provideMerge(Webhooks.layer),
    Layer.provide(UndiciTransport.layerWith()),
    // For a receiver on this machine. Without it: HTTPS, ports 443 and 8443, public addresses.
    Layer.provide(AddressGuard.layerWith({ allowPrivate: true })),
    Layer.provide(SecretBox.layer({ keys: [key] })),
    Layer.provide(Wakeup.layer),
    // With a database: SqlWebhookStore.layer and UnitOfWork.layerSql.
    Layer.provide(MemoryWebhookStore.layer),
    Layer.provideMerge(UnitOfWork.layerMemory),
    Layer.provide(Layer.mergeAll(Aead.layerWebCrypto, Digest.layerWebCrypto)),
    Layer.provide(SecureRandom.layerWebCrypto)
  )
