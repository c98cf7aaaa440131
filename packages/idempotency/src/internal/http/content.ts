/** Contents of requests, of which a fingerprint is computed. */
import type { Schema } from "effect"

/** Returns the content of a body: bytes are replaced by their digest. Fails with a `TypeError` unless it is JSON, text or bytes. */
export const contentOf = async (body: unknown): Promise<Schema.Json> => {
  if (body === undefined) return null
  if (body instanceof Uint8Array) return ["bytes", await digestOf(body)]
  if (typeof body === "object" && body !== null && ("pipe" in body || "getReader" in body)) throw notParsed()
  if (!isJson(body)) throw notComparable()
  return ["json", body]
}

/** The error of a body that nothing has parsed, whose content is unknown. */
export const notParsed = (): TypeError =>
  new TypeError(
    "The body of a request with an idempotency key is not parsed. Add the parser before idempotency, or pass a fingerprint"
  )

/** The error of a body with files, dates, cycles or other values that JSON does not have. */
export const notComparable = (): TypeError =>
  new TypeError("The body of a request with an idempotency key is not JSON, text or bytes. Pass a fingerprint")

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/**
 * Returns whether a value is one that `JSON.parse` returns, or an object with members that are `undefined`. Others would have
 * the fingerprint of an empty object, such as dates, or none, such as the fields of a form that refer to each other.
 */
const isJson = (body: unknown): body is Schema.Json => {
  // Not recursive, since the client chooses the depth of nesting.
  const pending: Array<{ readonly value: unknown; readonly isEnd: boolean }> = [{ value: body, isEnd: false }]
  const surrounding = new Set<object>()
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { isEnd, value } = next
    if (typeof value !== "object" || value === null) {
      if (["bigint", "function", "symbol"].includes(typeof value)) return false
    } else if (isEnd) surrounding.delete(value)
    else {
      if (surrounding.has(value) || !isPlain(value)) return false
      surrounding.add(value)
      pending.push({ value, isEnd: true })
      for (const member of Object.values(value)) pending.push({ value: member, isEnd: false })
    }
  }
  return true
}

/** Whether an object is an array, or has no prototype but that of all objects, of this realm or another one. */
const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value)
  return Array.isArray(value) || prototype === null || Object.getPrototypeOf(prototype) === null
}

const digestOf = async (bytes: Uint8Array): Promise<string> => {
  const digest = await crypto.subtle.digest("SHA-256", Uint8Array.from(bytes))
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("")
}
