/** The layers of the shop's process: its orders, and webhooks with its own header names. */
import { AddressGuard } from "@kinora/address-guard"
import { Migrations, UnitOfWork } from "@kinora/persistence"
import { DeliveryWorker, SecretBox, SqlWebhookStore, UndiciTransport, Wakeup, Webhooks } from "@kinora/webhooks"
import { Layer, type Redacted } from "effect"
import { Aead, Digest, SecureRandom } from "effect/crypto"
import * as Orders from "./Orders.ts"

/** Options of `layer`. */
export interface ShopOptions {
  /** Encrypts the secrets of endpoints. At least 32 bytes. */
  readonly key: Redacted.Redacted
  /** Rules for the URLs that customers register. Default: public addresses only. */
  readonly guard?: AddressGuard.AddressGuardOptions | undefined
}

/** Builds the shop on a database, Postgres or PGlite. Webhooks are sent until the scope of the layer closes. */
export const layer = ({ guard, key }: ShopOptions) =>
  Layer.mergeAll(
    Orders.layer,
    DeliveryWorker.layerWith({ headerPrefix: "X-Shop-", userAgent: "Shop-Webhooks/1.0" })
  ).pipe(
    Layer.provideMerge(Webhooks.layer),
    Layer.provide(UndiciTransport.layerWith()),
    Layer.provide(AddressGuard.layerWith(guard)),
    Layer.provide(SecretBox.layer({ keys: [key] })),
    Layer.provide(Layer.mergeAll(Wakeup.layer, Aead.layerWebCrypto, Digest.layerWebCrypto)),
    Layer.provide(SecureRandom.layerWebCrypto),
    Layer.provide(SqlWebhookStore.layer),
    Layer.provide(UnitOfWork.layerSql),
    Layer.provide(Migrations.layer(Orders.migrations, SqlWebhookStore.migrations))
  )
