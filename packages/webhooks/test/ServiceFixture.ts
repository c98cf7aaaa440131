/** What tests of `Webhooks` share: a guard that refuses one host, keys, and services with options of their own. */
import { Context, Effect, Layer, Redacted } from "effect"
import { Aead, Digest, SecureRandom } from "effect/crypto"
import { AddressGuard, AddressRefused } from "../src/AddressGuard.ts"
import * as SecretBox from "../src/SecretBox.ts"
import * as Wakeup from "../src/Wakeup.ts"
import { layerWith, Webhooks, type WebhooksOptions } from "../src/Webhooks.ts"
import { WebhooksError } from "../src/WebhooksError.ts"

export const oldKey = "the key that was there before, long enough"
export const newKey = "the key that takes its place, long enough"

/** A box with these keys, the first of which seals. */
export const boxOf = (first: string, ...others: ReadonlyArray<string>) =>
  SecretBox.layer({ keys: [Redacted.make(first), ...others.map((key) => Redacted.make(key))] }).pipe(
    Layer.provide(Aead.layerWebCrypto),
    Layer.provide(Digest.layerWebCrypto),
    Layer.provide(SecureRandom.layerWebCrypto)
  )

/** Lets every URL through but those of `private.test`, and knows which it was asked about. */
const asked: Array<string> = []
export const askedOf = (host: string): ReadonlyArray<string> => asked.filter((url) => url.includes(host))
const guard = Layer.succeed(
  AddressGuard,
  AddressGuard.of({
    check: Effect.fnUntraced(function*(text: string) {
      asked.push(text)
      const url = new URL(text)
      if (url.hostname === "private.test") {
        return yield* new AddressRefused({ problem: "address", message: "Not a public address" })
      }
      return { url, addresses: ["192.0.2.1"] }
    })
  })
)

/** What `Webhooks` needs besides a store. */
export const surroundings = Layer.mergeAll(boxOf(oldKey), guard, Wakeup.layer, SecureRandom.layerWebCrypto)

/** Another process on the same store. */
export const instance = (options: WebhooksOptions = {}) =>
  Effect.map(Layer.build(Layer.fresh(layerWith(options))), (context) => Context.get(context, Webhooks))

let accounts = 0

/** The name of an account that no other test uses. */
export const makeAccount = Effect.sync(() => `customer-${++accounts}`)

/** The reason of a refusal. */
export const refusalOf = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), (error) => error instanceof WebhooksError ? error.reason : error)
