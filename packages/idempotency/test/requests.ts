/** Requests for tests. */
import { DateTime, Effect } from "effect"
import type { Request } from "../src/Claim.ts"
import { Fingerprint } from "../src/Fingerprint.ts"
import { IdempotencyKey } from "../src/IdempotencyKey.ts"

/** A request with the current time. */
export const requestAt = (
  scope: string,
  key: IdempotencyKey = IdempotencyKey.Explicit({ text: "key" })
): Effect.Effect<Request> => Effect.map(DateTime.now, (at) => ({ scope, key, fingerprint: fingerprintOf("a"), at }))

/** A fingerprint that differs for different texts. */
export const fingerprintOf = (text: string): Fingerprint =>
  Fingerprint.make(Array.from(text, (letter) => letter.charCodeAt(0).toString(16)).join("").padEnd(64, "0"))
