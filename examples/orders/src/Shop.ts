/** What the process of the shop is made of: its orders, and webhooks under its own name. */
import { Migrations, UnitOfWork } from "@kinora/persistence"
import {
  AddressGuard,
  DeliveryWorker,
  SecretBox,
  SqlWebhookStore,
  UndiciTransport,
  Wakeup,
  Webhooks
} from "@kinora/webhooks"
import { Layer, type Redacted } from "effect"
import { Aead, Digest, SecureRandom } from "effect/crypto"
import * as Orders from "./Orders.ts"

/** What a shop is told. */
export interface ShopOptions {
  /** Seals the secrets of endpoints; at least 32 bytes. */
  readonly key: Redacted.Redacted
  /** Which URLs customers can register. Default: public ones only. */
  readonly guard?: AddressGuard.AddressGuardOptions | undefined
}

/** A shop over a database, Postgres or PGlite, that sends as long as the layer lives. */
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
