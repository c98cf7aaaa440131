/** Requests for tests. */
import type { Request } from "../../Claim.ts"
import { Fingerprint } from "../../Fingerprint.ts"
import { IdempotencyKey } from "../../IdempotencyKey.ts"

/** A request. */
export const requestOf = (
  scope: string,
  key: IdempotencyKey = IdempotencyKey.Explicit({ text: "key" })
): Request => ({ scope, key, fingerprint: fingerprintOf("a") })

/** A fingerprint that differs for different texts. */
export const fingerprintOf = (text: string): Fingerprint =>
  Fingerprint.make(Array.from(text, (letter) => letter.charCodeAt(0).toString(16)).join("").padEnd(64, "0"))
