/**
 * Hashes and random bytes as a busy process needs them. Handing a request's few
 * bytes to another thread costs fifty times what hashing them does, and asking the
 * generator for sixteen bytes costs what asking it for thousands does.
 */
import { NodeCrypto } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { Digest, SecureRandom } from "effect/crypto"
import { getRandomValues } from "node:crypto"

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

/** Bytes; enough for some 250 ids. */
const drawnAtOnce = 4_096

/** `getRandomValues` fills this many bytes at most. */
const filledMax = 65_536

const drawLarge = (size: number): Uint8Array => {
  const bytes = new Uint8Array(size)
  for (let start = 0; start < size; start += filledMax) getRandomValues(bytes.subarray(start, start + filledMax))
  return bytes
}
