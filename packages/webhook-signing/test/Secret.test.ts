import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { Secret } from "../src/index.ts"

const Bytes = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 }))).check(
  Schema.isBetweenLength(32, 32)
)

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"

/** The bytes as a number, and the text as a number. */
const ofBytes = (bytes: ReadonlyArray<number>) => bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n)
const ofText = (text: string) =>
  Array.from(text).reduce((sum, letter) => sum * 32n + BigInt(alphabet.indexOf(letter)), 0n)

it("generates different secrets that start with whsec_", () => {
  const secrets = Array.from({ length: 1000 }, Secret.generate)
  for (const secret of secrets) assert.match(secret, /^whsec_[0-9a-hjkmnp-tv-z]{52}$/)
  assert.strictEqual(new Set(secrets).size, 1000)
})

it("uses every letter of the alphabet", () => {
  const letters = new Set(Array.from({ length: 200 }, Secret.generate).flatMap((secret) => Array.from(secret.slice(6))))
  assert.deepStrictEqual([...letters].toSorted(), Array.from(alphabet).toSorted())
})

it.effect.prop("keeps all 256 bits, whatever they are", [Bytes], ([bytes]) =>
  Effect.sync(() => {
    const text = Secret.encode(Uint8Array.from(bytes))
    // 52 characters have 4 bits more than the bytes. They are 0.
    assert.strictEqual(ofText(text.slice(Secret.prefix.length)), ofBytes(bytes) << 4n)
  }))

it("rejects any other number of bytes than 32", () => {
  for (const length of [0, 31, 33]) assert.throws(() => Secret.encode(new Uint8Array(length)), RangeError)
})
