/** Contents of requests, of which a fingerprint is computed. */
import type { Schema } from "effect"

/** Returns the content of a body: bytes are replaced by their digest. Fails with a `TypeError` for a stream. */
export const contentOf = async (body: unknown): Promise<Schema.Json> => {
  if (body === undefined) return null
  if (body instanceof Uint8Array) return ["bytes", await digestOf(body)]
  if (typeof body === "object" && body !== null && ("pipe" in body || "getReader" in body)) throw notParsed()
  return ["json", body as Schema.Json]
}

/** The error of a body that nothing has parsed, whose content is unknown. */
export const notParsed = (): TypeError =>
  new TypeError(
    "The body of a request with an idempotency key is not parsed. Add the parser before idempotency, or pass a fingerprint"
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const digestOf = async (bytes: Uint8Array): Promise<string> => {
  const digest = await crypto.subtle.digest("SHA-256", Uint8Array.from(bytes))
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("")
}
