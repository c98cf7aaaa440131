/**
 * Probes of `kinora doctor`: signed requests that a server answers after some seconds. They find out whether the proxies
 * before the server wait as long as requests can take, and whether every server has the same URL signing keys.
 */
import type { UrlSigner } from "@kinora/storage"
import type { DateTime } from "effect"

/** The route of probes. Requests are `GET`. */
export const route = "/internal/probes/:seconds"

/** The longest probe in seconds, which is the longest `wait` of a request for a job. */
export const secondsMax = 60

/** Returns the URL of a probe that takes some seconds, on an origin without a trailing slash. It is valid until `expiresAt`. */
export const urlOf = (
  signer: UrlSigner.UrlSigner["Service"],
  origin: string,
  seconds: number,
  expiresAt: DateTime.Utc
): string => {
  const path = pathOf(String(seconds))
  const { exp, sig } = signer.sign(path, expiresAt)
  return `${origin}${path}?exp=${exp}&sig=${sig}`
}

/** Returns whether a request to `route` has the signature of these seconds. */
export const verify = (
  signer: UrlSigner.UrlSigner["Service"],
  seconds: string,
  pair: UrlSigner.SignedPair,
  now: DateTime.Utc
): UrlSigner.Verdict => signer.verify(pathOf(seconds), pair, now)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const pathOf = (seconds: string): string => route.replace(":seconds", seconds)
