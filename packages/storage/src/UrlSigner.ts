/**
 * Signs paths, so that a link works without a key until it expires. The signature is
 * in the query parameters `exp` and `sig`.
 *
 * Signing and verifying are synchronous and take a few microseconds, since responses
 * can contain many links.
 */
import { Context, type DateTime, Layer, Redacted } from "effect"
import { createHmac, createSecretKey, timingSafeEqual } from "node:crypto"

/** Signs and verifies paths. */
export class UrlSigner extends Context.Service<UrlSigner, {
  /**
   * Returns the pair that grants access to `path` until `expiresAt`, truncated to whole
   * seconds. It binds the path and the expiry, not the method or other parameters. The
   * same input and key give the same pair.
   */
  readonly sign: (path: string, expiresAt: DateTime.Utc) => SignedPair

  /**
   * Verifies a pair at `now`. The signature is checked first, so a changed `exp` is
   * `Wrong` and never `Expired`. Signatures are compared in constant time.
   */
  readonly verify: (path: string, pair: SignedPair, now: DateTime.Utc) => Verdict
}>()("@kinora/storage/UrlSigner") {}

/** The two query parameters. */
export interface SignedPair {
  /** Expiry in Unix seconds. */
  readonly exp: string
  /** base64url of the HMAC-SHA256, without padding: 43 characters. */
  readonly sig: string
}

/** Result of `verify`. `Expired` pairs have a valid signature. */
export type Verdict = "Valid" | "Expired" | "Wrong"

/** Options for `make` and `layer`. */
export interface UrlSignerOptions {
  /**
   * The first key signs, all keys verify. To rotate, put the new key first, and remove
   * the old one after its last link has expired. Each key needs at least 32 bytes of
   * UTF-8; a shorter one is a defect.
   */
  readonly keys: readonly [Redacted.Redacted, ...ReadonlyArray<Redacted.Redacted>]
}

/** Creates a signer. */
export const make = (options: UrlSignerOptions): UrlSigner["Service"] => {
  const [signing, ...older] = options.keys
  const signWith = makeSign(signing)
  const all = [signWith, ...older.map(makeSign)]

  return {
    sign: (path, expiresAt) => {
      const exp = String(toSeconds(expiresAt))
      return { exp, sig: signWith(exp, path).toString("base64url") }
    },
    verify: (path, { exp, sig }, now) => {
      const given = Buffer.from(sig)
      const isOurs = expPattern.test(exp) && all.some((sign) => isSame(given, sign(exp, path)))
      if (!isOurs) return "Wrong"
      return toSeconds(now) < Number(exp) ? "Valid" : "Expired"
    }
  }
}

/** Returns the signed URL of a path on an origin without a trailing slash. Tracing redacts `sig` by default. */
export const urlOf = (signer: UrlSigner["Service"], origin: string, path: string, expiresAt: DateTime.Utc): string => {
  const { exp, sig } = signer.sign(path, expiresAt)
  return `${origin}${path}?exp=${exp}&sig=${sig}`
}

/** Provides a signer. */
export const layer = (options: UrlSignerOptions): Layer.Layer<UrlSigner> => Layer.sync(UrlSigner, () => make(options))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const keyBytesMin = 32

/** Digits only, so that `exp` cannot contain a line feed, which separates it from the path in the signed text. */
const expPattern = /^\d{1,12}$/

/** The first line of the signed text separates these signatures from other uses of the key. */
const makeSign = (secret: Redacted.Redacted) => {
  const bytes = Buffer.from(Redacted.value(secret))
  if (bytes.length < keyBytesMin) throw new Error(`A key for signing URLs must have at least ${keyBytesMin} bytes`)
  const key = createSecretKey(bytes)
  return (exp: string, path: string) => createHmac("sha256", key).update(`kinora-url-1\n${exp}\n${path}`).digest()
}

/** Compares the text and not the decoded bytes, which have several base64url encodings. */
const isSame = (given: Buffer, expected: Buffer) => {
  const text = Buffer.from(expected.toString("base64url"))
  return given.length === text.length && timingSafeEqual(given, text)
}

const toSeconds = (time: DateTime.Utc) => Math.floor(time.epochMilliseconds / 1000)
