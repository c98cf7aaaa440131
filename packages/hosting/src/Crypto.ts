/**
 * Hashes, signatures, seals and random bytes as a busy process needs them. Handing a request's few
 * bytes to another thread costs fifty times what hashing them does, and asking the
 * generator for sixteen bytes costs what asking it for thousands does.
 */
import { NodeCrypto } from "@effect/platform-node"
import type { Signature } from "@kinora/webhook-signing"
import { Effect, Layer } from "effect"
import { Aead, Digest, SecureRandom } from "effect/crypto"
import { createCipheriv, createDecipheriv, createHmac, createSecretKey, getRandomValues } from "node:crypto"

/** Hashes what is small at once, and what is large outside of this thread. */
export const layerDigest: Layer.Layer<Digest.Digest> = Layer.effect(
  Digest.Digest,
  Effect.gen(function*() {
    const here = yield* Effect.provide(Digest.Digest, NodeCrypto.layerDigest)
    const elsewhere = yield* Effect.provide(Digest.Digest, Digest.layerWebCrypto)
    const by = (data: Uint8Array) => data.length <= hashedHereMax ? here : elsewhere
    return Digest.Digest.of({
      digest: (algorithm, data) => by(data).digest(algorithm, data),
      digestHex: (algorithm, data) => by(data).digestHex(algorithm, data)
    })
  })
)

/** Seals and opens at once what is as small as secrets are: AES-256-GCM. */
export const layerAead: Layer.Layer<Aead.Aead> = Layer.suspend(() =>
  Aead.layerWebCryptoWith({ implementations: { aes256Gcm } }).pipe(Layer.provide(layerSecureRandom))
)

/** Signs webhooks at once, as `Signature.makeSigner` does on another thread. */
export const makeWebhookSigner = (secret: string): Signature.Signer => {
  const key = createSecretKey(secret, "utf8")
  return {
    sign: async (timestamp, body) => createHmac("sha256", key).update(`${timestamp}.`).update(body).digest("hex")
  }
}

/** Random bytes, drawn for many callers at a time. None is handed out twice, or kept once it was. */
export const layerSecureRandom: Layer.Layer<SecureRandom.SecureRandom> = Layer.sync(SecureRandom.SecureRandom, () => {
  const drawn = new Uint8Array(drawnAtOnce)
  let used = drawn.length
  return SecureRandom.make((size) => {
    if (size > drawn.length) return drawLarge(size)
    if (size > drawn.length - used) {
      getRandomValues(drawn)
      used = 0
    }
    const bytes = drawn.slice(used, used + size)
    drawn.fill(0, used, used + size)
    used += size
    return bytes
  })
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Bytes whose hash takes as long as handing them over. */
const hashedHereMax = 64 * 1024

/** Bytes of the tag, which stands behind the ciphertext. */
const tagBytes = 16

const aes256Gcm: Aead.Implementation = {
  encrypt: (key, nonce, plaintext, aad) => {
    const cipher = createCipheriv("aes-256-gcm", key, nonce, { authTagLength: tagBytes }).setAAD(aad)
    // A copy, since buffers may be views into a pool that everybody shares.
    return Uint8Array.from(Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]))
  },
  decrypt: (key, nonce, ciphertext, aad) => {
    const sealed = ciphertext.subarray(0, ciphertext.length - tagBytes)
    const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: tagBytes })
      .setAAD(aad)
      .setAuthTag(ciphertext.subarray(sealed.length))
    const plaintext = Uint8Array.from(decipher.update(sealed))
    try {
      // Throws when the tag does not match, and otherwise has nothing to add.
      decipher.final()
      return plaintext
    } catch {
      return undefined
    }
  }
}

/** Bytes; enough for some 250 ids. */
const drawnAtOnce = 4_096

/** `getRandomValues` fills this many bytes at most. */
const filledMax = 65_536

const drawLarge = (size: number): Uint8Array => {
  const bytes = new Uint8Array(size)
  for (let start = 0; start < size; start += filledMax) getRandomValues(bytes.subarray(start, start + filledMax))
  return bytes
}
