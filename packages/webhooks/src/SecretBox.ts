/** Encryption of endpoint secrets with AES-256-GCM, so that a copy of the database cannot be used to sign. */
import { Context, Effect, Layer, Redacted, Result } from "effect"
import { Aead, Digest, SecureRandom } from "effect/crypto"
import { Base64Url, Hex } from "effect/encoding"
import type { EndpointId } from "./Endpoint.ts"

/** Seals (encrypts) and opens (decrypts) secrets. */
export class SecretBox extends Context.Service<SecretBox, {
  /** Prefix of every text that the first key sealed. */
  readonly prefix: string
  /** Seals a secret with the first key. The endpoint's id is authenticated, so the text cannot be moved to another endpoint. */
  readonly seal: (endpoint: EndpointId, secret: Redacted.Redacted) => Effect.Effect<string>
  /** Returns whether the text has the prefix of one of the keys. `open` may still fail if the text was changed. */
  readonly hasKeyOf: (sealed: string) => boolean
  /** Opens a text. Dies with `SecretSealed` if no key opens it, because a key is missing or the row was changed. */
  readonly open: (endpoint: EndpointId, sealed: string) => Effect.Effect<Redacted.Redacted>
}>()("@kinora/webhooks/SecretBox") {}

/** Options for `SecretBox.layer`. */
export interface SecretBoxOptions {
  /**
   * Keys of at least 32 bytes of UTF-8. The first one seals, all open. The layer dies if a
   * key is shorter.
   *
   * To rotate a key, append the new key in every process, then move it to the front in every
   * process, and remove the old key when `Webhooks.reseal` returns 0.
   */
  readonly keys: readonly [Redacted.Redacted, ...ReadonlyArray<Redacted.Redacted>]
}

/** Defect of `SecretBox.open`: no key opens the text. */
export class SecretSealed extends Error {
  override readonly name = "SecretSealed"
  constructor(endpoint: EndpointId) {
    super(`No key opens a secret of ${endpoint}: a key is missing, or the row was changed`)
  }
}

/** Creates a box that seals to `<key id>.<nonce>.<ciphertext>`. The key id is derived from the key by a hash. */
export const make = Effect.fnUntraced(function*({ keys }: SecretBoxOptions) {
  const aead = yield* Aead.Aead
  const random = yield* SecureRandom.SecureRandom
  const known = yield* Effect.forEach(keys, deriveKey)
  const first = known[0]

  const open = Effect.fnUntraced(function*(endpoint: EndpointId, sealed: string) {
    const parts = partsOf(sealed)
    const key = known.find(({ id }) => id === parts?.keyId)
    if (parts === undefined || key === undefined) return yield* Effect.die(new SecretSealed(endpoint))
    const bytes = yield* aead.decrypt(key.key, parts.ciphertext, { nonce: parts.nonce, aad: utf8.encode(endpoint) })
      .pipe(Effect.catch(() => Effect.die(new SecretSealed(endpoint))))
    return Redacted.make(new TextDecoder().decode(bytes))
  })

  const seal = Effect.fnUntraced(function*(endpoint: EndpointId, secret: Redacted.Redacted) {
    const nonce = yield* random.randomBytes(Aead.aes256Gcm.nonceLength)
    const ciphertext = yield* aead.encrypt(first.key, utf8.encode(Redacted.value(secret)), {
      nonce,
      aad: utf8.encode(endpoint)
    })
    return [first.id, Base64Url.encode(nonce), Base64Url.encode(ciphertext)].join(".")
  }, Effect.orDie)

  const hasKeyOf = (sealed: string) => known.some(({ id }) => sealed.startsWith(`${id}.`))

  return SecretBox.of({ prefix: `${first.id}.`, seal, hasKeyOf, open })
})

/** Provides a box over the surrounding cryptography services. */
export const layer = (
  options: SecretBoxOptions
): Layer.Layer<SecretBox, never, Aead.Aead | Digest.Digest | SecureRandom.SecureRandom> =>
  Layer.effect(SecretBox, make(options))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const utf8 = new TextEncoder()

/** Shortest key, in bytes of UTF-8. */
const keyBytesMin = 32

/** Bytes of the hash in a key id: enough to be unique, too few to reveal anything about the key. */
const keyIdBytes = 6

/** Derives the key and its id from the same text with different prefixes, so that neither reveals the other. */
const deriveKey = Effect.fnUntraced(function*(text: Redacted.Redacted) {
  const { digest } = yield* Digest.Digest
  const hash = (purpose: string) =>
    digest(Digest.sha256, utf8.encode(`@kinora/webhooks/SecretBox ${purpose}\0${Redacted.value(text)}`))
  if (utf8.encode(Redacted.value(text)).length < keyBytesMin) {
    return yield* Effect.die(new Error(`A SecretBox key must have at least ${keyBytesMin} bytes`))
  }
  return {
    id: Hex.encode((yield* hash("id")).subarray(0, keyIdBytes)),
    key: yield* Aead.key(Aead.aes256Gcm, yield* hash("key"))
  }
}, Effect.orDie)

const partsOf = (sealed: string) => {
  const [keyId = "", nonce = "", ciphertext = ""] = sealed.split(".")
  return Result.getOrUndefined(Result.gen(function*() {
    return { keyId, nonce: yield* Base64Url.decode(nonce), ciphertext: yield* Base64Url.decode(ciphertext) }
  }))
}
