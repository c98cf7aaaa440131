/**
 * Links that work without a key until they expire (D32): `exp` and `sig` in the
 * query of a path.
 *
 * Every job object that is read carries such links, so both directions are
 * synchronous and cost a few microseconds.
 */
import { Context, type DateTime, Layer, Redacted } from "effect"
import { createHmac, createSecretKey, timingSafeEqual } from "node:crypto"

/** Signs and verifies paths. */
export class UrlSigner extends Context.Service<UrlSigner, {
  /**
   * The pair that opens `path` until `expiresAt`, which is cut to whole seconds. It
   * binds the path and the expiry; the method and other parameters stay free.
   * The same input gives the same pair, as long as the signing key is the same.
   */
  readonly sign: (path: string, expiresAt: DateTime.Utc) => SignedPair

  /**
   * What the pair is worth at `now`. The signature is judged first, so an `exp` that
   * was tampered with is `Wrong` and never `Expired`. Takes the same time wherever
   * the signatures differ.
   */
  readonly verify: (path: string, pair: SignedPair, now: DateTime.Utc) => Verdict
}>()("@kinora/storage/UrlSigner") {}

/** The two query parameters, as text. */
export interface SignedPair {
  /** Expiry in Unix seconds. */
  readonly exp: string
  /** base64url of the HMAC-SHA256, without padding: 43 characters. */
  readonly sig: string
}

/** `Valid`; signed by one of the keys but `Expired`; or `Wrong`. */
export type Verdict = "Valid" | "Expired" | "Wrong"

/** What a signer is told. */
export interface UrlSignerOptions {
  /**
   * The first signs, all verify. To rotate: put the new key first, and drop the old
   * one when the last link it signed has expired. Each has at least 32 bytes of
   * UTF-8; a shorter one is a mistake of the host, and a defect.
   */
  readonly keys: readonly [Redacted.Redacted, ...ReadonlyArray<Redacted.Redacted>]
}

/** A signer for these keys. */
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

/** See `make`. */
export const layer = (options: UrlSignerOptions): Layer.Layer<UrlSigner> => Layer.sync(UrlSigner, () => make(options))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const keyBytesMin = 32

/** Digits only, so that the line after `exp` cannot be moved into it. */
const expPattern = /^\d{1,12}$/

/** The first line keeps these signatures apart from any other use of the same key. */
const makeSign = (secret: Redacted.Redacted) => {
  const bytes = Buffer.from(Redacted.value(secret))
  if (bytes.length < keyBytesMin) throw new Error(`A key for signing URLs needs at least ${keyBytesMin} bytes`)
  const key = createSecretKey(bytes)
  return (exp: string, path: string) => createHmac("sha256", key).update(`kinora-url-1\n${exp}\n${path}`).digest()
}

/** Compares the text, not what it decodes to: base64url has several spellings of the same bytes. */
const isSame = (given: Buffer, expected: Buffer) => {
  const text = Buffer.from(expected.toString("base64url"))
  return given.length === text.length && timingSafeEqual(given, text)
}

const toSeconds = (time: DateTime.Utc) => Math.floor(time.epochMilliseconds / 1000)
