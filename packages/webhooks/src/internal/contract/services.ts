/** `Webhooks` over a store, and accounts for tests. */
import { AddressGuard } from "@kinora/address-guard/AddressGuard"
import { Context, Effect, Layer, Redacted } from "effect"
import { Aead, Digest, SecureRandom } from "effect/crypto"
import * as SecretBox from "../../SecretBox.ts"
import * as Wakeup from "../../Wakeup.ts"
import { layerWith, Webhooks, type WebhooksOptions } from "../../Webhooks.ts"
import { WebhooksError } from "../../WebhooksError.ts"

/** Services that instances of `Webhooks` require besides a store. */
export type Surroundings = AddressGuard | SecretBox.SecretBox | SecureRandom.SecureRandom | Wakeup.Wakeup

/** Provides them. The guard accepts every URL and resolves no host. */
export const surroundings: Layer.Layer<Surroundings> = Layer.mergeAll(
  SecretBox.layer({ keys: [Redacted.make("a key of at least thirty-two bytes")] }).pipe(
    Layer.provide([Aead.layerWebCrypto, Digest.layerWebCrypto])
  ),
  Layer.succeed(
    AddressGuard,
    AddressGuard.of({ check: (url) => Effect.sync(() => ({ url: new URL(url), addresses: ["192.0.2.1"] })) })
  ),
  Wakeup.layer
).pipe(Layer.provideMerge(SecureRandom.layerWebCrypto))

/** A further instance over the same store, as in another process. */
export const instance = (options: WebhooksOptions = {}) =>
  Effect.map(Layer.build(Layer.fresh(layerWith(options))), (context) => Context.get(context, Webhooks))

/** Returns the name of a new account. */
export const makeAccount = Effect.sync(() => `customer-${++accounts}`)

/** Returns the reason of a `WebhooksError`. */
export const refusalOf = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), (error) => error instanceof WebhooksError ? error.reason : error)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

let accounts = 0
