/** The secrets of a service: those of `SecretToken` with the prefix that it has configured. */
import * as SecretToken from "@kinora/persistence/SecretToken"
import { Redacted } from "effect"

/** Defines the secrets. Throws a `TypeError` if the prefix is not 1 to `prefixCharsMax` letters, digits, `_` and `-`. */
export const define = (prefix: string): SecretToken.SecretToken => {
  if (!/^[A-Za-z0-9_-]+$/.test(prefix) || prefix.length > prefixCharsMax) {
    throw new TypeError(
      `Expected a prefix of 1 to ${prefixCharsMax} letters, digits, "_" and "-", got ${JSON.stringify(prefix)}`
    )
  }
  return {
    ...SecretToken.define(prefix, "ApiKey"),
    prefix: (secret) => Redacted.value(secret).slice(0, prefix.length + shownChars)
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const prefixCharsMax = 32

/** Number of random characters that a record has. The other 35 are too many to guess. */
const shownChars = 8
