/** Seals the secrets of endpoints, so that who reads the database cannot sign (AES-256-GCM). */
import { Context, Effect, Layer, Redacted, Result } from "effect"
import { Aead, Digest, SecureRandom } from "effect/crypto"
import { Base64Url, Hex } from "effect/encoding"
import type { EndpointId } from "./Endpoint.ts"

/** Seals and opens secrets. */
export class SecretBox extends Context.Service<SecretBox, {
  /** What every text begins with that the first key sealed. */
  readonly prefix: string
  /** Seals with the first key, for this endpoint alone: another's sealed text cannot be put in its place. */
  readonly seal: (endpoint: EndpointId, secret: Redacted.Redacted) => Effect.Effect<string>
  /** Whether one of the keys sealed this text, as its beginning says: `open` may still find that it was changed. */
  readonly hasKeyOf: (sealed: string) => boolean
  /** Opens what one of the keys sealed. A text that none opens is a defect: a key is missing, or somebody changed the row. */
  readonly open: (endpoint: EndpointId, sealed: string) => Effect.Effect<Redacted.Redacted>
}>()("@kinora/webhooks/SecretBox") {}

/** What a box is told. */
export interface SecretBoxOptions {
  /**
   * The first seals, all open. Each has at least 32 bytes of UTF-8; a shorter one is a
   * mistake of the host, and a defect.
   *
   * To rotate: add the new key as the last one to every process, so that all can open
   * what it seals; then put it first in every process; and when `Webhooks.reseal`, which
   * seals anew what there is, finds nothing more take the old one away.
   */
  readonly keys: readonly [Redacted.Redacted, ...ReadonlyArray<Redacted.Redacted>]
}

/** No key of the box opens a text. */
export class SecretSealed extends Error {
  override readonly name = "SecretSealed"
  constructor(endpoint: EndpointId) {
    super(`No key opens a secret of ${endpoint}: a key is missing, or the row was changed`)
  }
}

/** A box that keeps `<key id>.<nonce>.<ciphertext>`; the id is of a hash of the key. */
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

/** The box over the surrounding cryptography. */
export const layer = (
  options: SecretBoxOptions
): Layer.Layer<SecretBox, never, Aead.Aead | Digest.Digest | SecureRandom.SecureRandom> =>
  Layer.effect(SecretBox, make(options))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const utf8 = new TextEncoder()

/** Bytes of UTF-8. */
const keyBytesMin = 32

/** Of the hash, in a key's id: enough that two keys never share one, too little to say anything of the key. */
const keyIdBytes = 6

/** The key and its id are hashes of the same text with different beginnings, so that neither says anything of the other. */
const deriveKey = Effect.fnUntraced(function*(text: Redacted.Redacted) {
  const { digest } = yield* Digest.Digest
  const hash = (purpose: string) =>
    digest(Digest.sha256, utf8.encode(`@kinora/webhooks/SecretBox ${purpose}\0${Redacted.value(text)}`))
  if (utf8.encode(Redacted.value(text)).length < keyBytesMin) {
    return yield* Effect.die(new Error(`A key of the secret box has fewer than ${keyBytesMin} bytes`))
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
