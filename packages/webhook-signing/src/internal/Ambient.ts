/** The platform's clock and random generator, and the times of signatures. */

/** Returns the milliseconds since 1970. */
export const nowMillis = (): number => Date.now()

/** Returns cryptographically random bytes. */
export const randomBytes = (count: number): Uint8Array => crypto.getRandomValues(new Uint8Array(count))

/** Returns the timestamp. Throws a `RangeError` unless it is in whole seconds since 1970. */
export const checkedTimestamp = (timestamp: number): number => {
  if (Number.isInteger(timestamp) && timestamp >= 0 && timestamp <= timestampMax) return timestamp
  throw new RangeError("A timestamp must be a whole number of seconds since 1970, not milliseconds.")
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The year 5138. Timestamps in milliseconds exceed it. */
const timestampMax = 99_999_999_999
