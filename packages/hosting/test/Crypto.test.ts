import { assert, it } from "@effect/vitest"
import { Signature } from "@kinora/webhook-signing"
import { Effect, Exit } from "effect"
import { Aead, Digest, SecureRandom } from "effect/crypto"
import * as Crypto from "../src/Crypto.ts"

it.effect("computes the same digests as WebCrypto for short and long data", () =>
  Effect.gen(function*() {
    const ours = yield* Effect.provide(Digest.Digest, Crypto.layerDigest)
    const reference = yield* Effect.provide(Digest.Digest, Digest.layerWebCrypto)
    for (const size of [0, 1, 262_144, 262_145, 524_288, 1_000_000]) {
      const data = new Uint8Array(size).fill(7)
      assert.deepStrictEqual(
        yield* ours.digest(Digest.sha256, data),
        yield* reference.digest(Digest.sha256, data)
      )
      assert.strictEqual(
        yield* ours.digestHex(Digest.sha256, data),
        yield* reference.digestHex(Digest.sha256, data)
      )
    }
  }))

it.effect("encrypts like WebCrypto and rejects modified ciphertexts", () =>
  Effect.gen(function*() {
    const ours = yield* Effect.provide(Aead.Aead, Crypto.layerAead)
    const reference = yield* Effect.provide(Aead.Aead, Aead.layerWebCrypto)
    const key = yield* Aead.key(Aead.aes256Gcm, new Uint8Array(32).fill(7))
    const options = { nonce: new Uint8Array(12).fill(1), aad: new Uint8Array([1, 2, 3]) }
    for (const size of [0, 1, 16, 49, 10_000]) {
      const secret = new Uint8Array(size).fill(5)
      const sealed = yield* ours.encrypt(key, secret, options)
      assert.deepStrictEqual(sealed, yield* reference.encrypt(key, secret, options))
      assert.deepStrictEqual(yield* ours.decrypt(key, sealed, options), secret)
      for (const place of [0, size, sealed.length - 1]) {
        const changed = sealed.with(place, sealed[place]! ^ 1)
        assert.isTrue(Exit.isFailure(yield* Effect.exit(ours.decrypt(key, changed, options))))
      }
      const elsewhere = { ...options, aad: new Uint8Array([1, 2, 4]) }
      assert.isTrue(Exit.isFailure(yield* Effect.exit(ours.decrypt(key, sealed, elsewhere))))
    }
  }).pipe(Effect.provide(Crypto.layerSecureRandom)))

it.effect("signs webhooks like @kinora/webhook-signing", () =>
  Effect.promise(async () => {
    const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    const [ours, reference] = [Crypto.makeWebhookSigner(secret), await Signature.makeSigner(secret)]
    for (const body of ["", "{}", "ü", new Uint8Array(100_000).fill(200)]) {
      assert.strictEqual(await ours.sign(1_893_456_000, body), await reference.sign(1_893_456_000, body))
    }
  }))

it.effect("returns no random bytes twice for any sequence of sizes", () =>
  Effect.gen(function*() {
    const { randomBytes, uuidV4 } = yield* SecureRandom.SecureRandom
    const seen = new Set<string>()
    const sizes = [0, 1, 16, 4_095, 4_096, 4_097, 65_537, 200_000]
    for (const size of sizes) assert.strictEqual((yield* randomBytes(size)).length, size)
    // Draws more than one buffer, in sizes that do not divide it.
    for (let n = 0; n < 2_000; n++) seen.add((yield* randomBytes(24)).join())
    for (let n = 0; n < 2_000; n++) seen.add(yield* uuidV4())
    assert.strictEqual(seen.size, 4_000)
    // Every part of a large draw is random: 32 zeros in a row do not happen.
    const large = yield* randomBytes(200_000)
    for (let start = 0; start < large.length; start += 32) {
      assert.isTrue(large.subarray(start, start + 32).some((byte) => byte !== 0))
    }
  }).pipe(Effect.provide(Crypto.layerSecureRandom)))
