/** Fixtures for tests of `Webhooks`: a guard that rejects one host, and keys. */
import { AddressGuard, AddressRefused } from "@kinora/address-guard/AddressGuard"
import { Effect, Layer, Redacted } from "effect"
import { Aead, Digest, SecureRandom } from "effect/crypto"
import * as SecretBox from "../src/SecretBox.ts"
import * as Wakeup from "../src/Wakeup.ts"

export const oldKey = "the key that was there before, long enough"
export const newKey = "the key that takes its place, long enough"

/** A box with these keys. The first one seals. */
export const boxOf = (first: string, ...others: ReadonlyArray<string>) =>
  SecretBox.layer({ keys: [Redacted.make(first), ...others.map((key) => Redacted.make(key))] }).pipe(
    Layer.provide(Aead.layerWebCrypto),
    Layer.provide(Digest.layerWebCrypto),
    Layer.provide(SecureRandom.layerWebCrypto)
  )

/** Accepts every URL except those of `private.test`, and records the URLs that it checked. */
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

/** The services that `Webhooks` requires, without a store. */
export const surroundings = Layer.mergeAll(boxOf(oldKey), guard, Wakeup.layer, SecureRandom.layerWebCrypto)
