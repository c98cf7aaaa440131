import { assert, it } from "@effect/vitest"
import { Effect, Redacted, Schema } from "effect"
import { Digest, SecureRandom } from "effect/crypto"
import { inspect } from "node:util"
import { crc32 } from "../src/internal/crc32.ts"
import * as SecretToken from "../src/SecretToken.ts"

const Secret = SecretToken.define("kin_", "Secret")

const Bytes = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 }))).check(
  Schema.isBetweenLength(32, 32)
)
const Place = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 52 }))

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

const textOf = (bytes: ReadonlyArray<number>) => Redacted.value(Secret.fromRandom(Uint8Array.from(bytes)))

it.effect("creates different secrets of the documented form", () =>
  Effect.gen(function*() {
    const keys = yield* Effect.forEach(Array.from({ length: 100 }), () => Secret.make)
    for (const key of keys) {
      assert.match(Redacted.value(key), /^kin_[0-9A-Za-z]{49}$/)
      assert.isTrue(Secret.isWellFormed(Redacted.value(key)))
      assert.strictEqual(Secret.prefix(key), Redacted.value(key).slice(0, 12))
    }
    assert.strictEqual(new Set(keys.map(Redacted.value)).size, 100)
  }).pipe(Effect.provide(SecureRandom.layerWebCrypto)))

it.effect.prop(
  "encodes any 256 bits, and different bits differently",
  [Bytes, Bytes],
  ([one, other]) =>
    Effect.sync(() => {
      assert.isTrue(Secret.isWellFormed(textOf(one)))
      assert.strictEqual(textOf(one) === textOf(other), one.join() === other.join())
    })
)

it("matches test vectors", () => {
  assert.strictEqual(crc32("123456789"), 0xcbf43926)
  assert.strictEqual(crc32(""), 0)
  // The checksums are zlib's.
  assert.strictEqual(textOf(Array.from({ length: 32 }, () => 0)), `kin_${"0".repeat(43)}4Lro3E`)
  assert.strictEqual(
    textOf(Array.from({ length: 32 }, () => 255)).slice(4, 47),
    "yhjskwdA6OZ1AL1YmHWZWm8LLG7HjnuCA2j5rOw8Xp1"
  )
})

it.effect.prop("rejects every change of a single character", [Bytes, Place], ([bytes, place]) =>
  Effect.sync(() => {
    const text = textOf(bytes)
    for (const letter of `${alphabet}_- é\0`) {
      const changed = text.slice(0, place) + letter + text.slice(place + 1)
      assert.strictEqual(Secret.isWellFormed(changed), changed === text)
    }
  }))

it.effect.prop("rejects swapped neighbours", [Bytes, Place], ([bytes, place]) =>
  Effect.sync(() => {
    const text = textOf(bytes)
    const changed = text.slice(0, place) + text.slice(place + 1, place + 2) + text.slice(place, place + 1) +
      text.slice(place + 2)
    assert.strictEqual(Secret.isWellFormed(changed), changed === text)
  }))

it.effect.prop("rejects any other text", [Schema.String, Bytes, Place], ([text, bytes, place]) =>
  Effect.sync(() => {
    assert.isFalse(Secret.isWellFormed(text))
    assert.isFalse(Secret.isWellFormed(textOf(bytes).slice(0, place)))
    assert.isFalse(Secret.isWellFormed(`${textOf(bytes)} `))
  }))

it.effect.prop("hashes by SHA-256", [Bytes], ([bytes]) =>
  Effect.gen(function*() {
    const key = Secret.fromRandom(Uint8Array.from(bytes))
    const { digestHex } = yield* Digest.Digest
    assert.strictEqual(
      SecretToken.hash(key),
      yield* digestHex(Digest.sha256, new TextEncoder().encode(Redacted.value(key)))
    )
  }).pipe(Effect.provide(Digest.layerWebCrypto)))

it("redacts a secret when it is printed", () => {
  const key = Secret.fromRandom(new Uint8Array(32))
  for (const printed of [inspect(key), JSON.stringify({ key })]) assert.notInclude(printed, "kin_")
})
