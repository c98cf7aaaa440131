import { assert, it } from "@effect/vitest"
import { Cause, Context, Effect, Exit, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { EndpointId } from "../src/Endpoint.ts"
import { SecretBox } from "../src/SecretBox.ts"
import { boxOf, newKey, oldKey } from "./ServiceFixture.ts"

const boxWith = (first: string, ...others: ReadonlyArray<string>) =>
  Effect.map(Layer.build(Layer.fresh(boxOf(first, ...others))), (context) => Context.get(context, SecretBox))

const makeId = Effect.provide(EndpointId.make, SecureRandom.layerWebCrypto)

const secret = Redacted.make("whsec_0123456789")

it.effect("opens texts that any of its keys sealed", () =>
  Effect.gen(function*() {
    const id = yield* makeId
    const old = yield* boxWith(oldKey)
    const both = yield* boxWith(newKey, oldKey)
    const sealed = yield* old.seal(id, secret)
    assert.strictEqual(Redacted.value(yield* old.open(id, sealed)), "whsec_0123456789")
    assert.strictEqual(Redacted.value(yield* both.open(id, sealed)), "whsec_0123456789")
    assert.isTrue(sealed.startsWith(old.prefix))
    assert.isFalse(sealed.startsWith(both.prefix))
    assert.isTrue((yield* both.seal(id, secret)).startsWith(both.prefix))
    assert.isTrue(old.hasKeyOf(sealed))
    assert.isTrue(both.hasKeyOf(sealed))
    assert.isFalse((yield* boxWith(newKey)).hasKeyOf(sealed))
  }))

it.effect("seals to a different text each time, without the secret or the key", () =>
  Effect.gen(function*() {
    const id = yield* makeId
    const box = yield* boxWith(oldKey)
    const sealed = yield* Effect.forEach([1, 2, 3], () => box.seal(id, secret))
    assert.strictEqual(new Set(sealed).size, 3)
    for (const text of sealed) {
      assert.match(text, /^[0-9a-f]{12}\.[\w-]{16}\.[\w-]+$/)
      assert.notInclude(text, "whsec")
      assert.notInclude(text, oldKey)
    }
  }))

it.effect("does not open texts that were changed, moved to another endpoint, or sealed by an unknown key", () =>
  Effect.gen(function*() {
    const id = yield* makeId
    const box = yield* boxWith(oldKey)
    const sealed = yield* box.seal(id, secret)
    const [keyId, nonce, ciphertext] = sealed.split(".") as [string, string, string]
    const flipped = (text: string) => `${text.startsWith("A") ? "B" : "A"}${text.slice(1)}`
    const wrong = [
      "",
      "whsec_0123456789",
      `${keyId}.${nonce}`,
      `${keyId}.${flipped(nonce)}.${ciphertext}`,
      `${keyId}.${nonce}.${flipped(ciphertext)}`,
      `${keyId}.${nonce}.${ciphertext.slice(0, 8)}`,
      `${keyId}.${nonce.slice(0, 8)}.${ciphertext}`,
      `${keyId}.${nonce}.é`,
      yield* (yield* boxWith(newKey)).seal(id, secret),
      yield* box.seal(yield* makeId, secret)
    ]
    for (const text of wrong) {
      const exit = yield* Effect.exit(box.open(id, text))
      assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause), text)
      assert.notInclude(String(exit), "whsec")
      assert.notInclude(String(exit), oldKey)
    }
  }))

it.effect("rejects keys of fewer than 32 bytes", () =>
  Effect.gen(function*() {
    const short = yield* Effect.exit(boxWith("x".repeat(31)))
    assert.isTrue(Exit.isFailure(short) && Cause.hasDies(short.cause))
    yield* boxWith("ü".repeat(16))
    assert.isTrue(Exit.isFailure(yield* Effect.exit(boxWith(newKey, "short"))))
  }))
