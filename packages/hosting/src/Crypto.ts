/**
 * Digests, encryption, signatures and random bytes for a busy process.
 *
 * WebCrypto runs on other threads, which costs about fifty times as much as hashing the few bytes of a request here, and
 * more than hashing a long body here, since it copies the bytes first. Drawing sixteen random bytes costs as much as drawing
 * thousands.
 */
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import type { Signature } from "@kinora/webhook-signing"
import { Effect, Layer } from "effect"
import { Aead, Digest, SecureRandom } from "effect/crypto"
import { createCipheriv, createDecipheriv, createHash, createHmac, createSecretKey, getRandomValues } from "node:crypto"

/** Hashes long inputs in pieces, between which other fibers run. */
export const layerDigest: Layer.Layer<Digest.Digest> = Layer.effect(
  Digest.Digest,
  Effect.gen(function*() {
    const atOnce = yield* Effect.provide(Digest.Digest, NodeCrypto.layerDigest)
    const isShort = (data: Uint8Array) => data.length <= hashedAtOnceMax
    return Digest.Digest.of({
      digest: (algorithm, data) =>
        isShort(data)
          ? atOnce.digest(algorithm, data)
          : Effect.map(hashInPieces(algorithm, data), (hash) => new Uint8Array(hash.digest())),
      digestHex: (algorithm, data) =>
        isShort(data)
          ? atOnce.digestHex(algorithm, data)
          : Effect.map(hashInPieces(algorithm, data), (hash) => hash.digest("hex"))
    })
  })
)

/** Encrypts and decrypts short values such as secrets on this thread, with AES-256-GCM. */
export const layerAead: Layer.Layer<Aead.Aead> = Layer.suspend(() =>
  Aead.layerWebCryptoWith({ implementations: { aes256Gcm } }).pipe(Layer.provide(layerSecureRandom))
)

/** Signs webhooks on this thread. The signatures are those of `Signature.makeSigner`. */
export const makeWebhookSigner = (secret: string): Signature.Signer => {
  const key = createSecretKey(secret, "utf8")
  return {
    sign: async (timestamp, body) => createHmac("sha256", key).update(`${timestamp}.`).update(body).digest("hex")
  }
}

/** Random bytes, drawn for many callers at a time. Bytes are returned once and erased from the pool. */
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

/** Length whose hash takes less than a millisecond. */
const hashedAtOnceMax = 256 * 1024

const hashInPieces = Effect.fnUntraced(function*({ name }: Digest.Algorithm, data: Uint8Array) {
  const hash = createHash(name)
  for (let start = 0; start < data.length; start += hashedAtOnceMax) {
    hash.update(data.subarray(start, start + hashedAtOnceMax))
    yield* Effect.yieldNow
  }
  return hash
})

/** Length of the authentication tag at the end of the ciphertext. */
const tagBytes = 16

const aes256Gcm: Aead.Implementation = {
  encrypt: (key, nonce, plaintext, aad) => {
    const cipher = createCipheriv("aes-256-gcm", key, nonce, { authTagLength: tagBytes }).setAAD(aad)
    // A copy, since a `Buffer` may be a view of a shared pool.
    return Uint8Array.from(Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]))
  },
  decrypt: (key, nonce, ciphertext, aad) => {
    const sealed = ciphertext.subarray(0, ciphertext.length - tagBytes)
    const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: tagBytes })
      .setAAD(aad)
      .setAuthTag(ciphertext.subarray(sealed.length))
    const plaintext = Uint8Array.from(decipher.update(sealed))
    try {
      // Throws if the tag does not match. Otherwise returns no further bytes.
      decipher.final()
      return plaintext
    } catch {
      return undefined
    }
  }
}

/** Bytes per draw, enough for about 250 ids. */
const drawnAtOnce = 4_096

/** Maximum length that `getRandomValues` accepts. */
const filledMax = 65_536

const drawLarge = (size: number): Uint8Array => {
  const bytes = new Uint8Array(size)
  for (let start = 0; start < size; start += filledMax) getRandomValues(bytes.subarray(start, start + filledMax))
  return bytes
}
