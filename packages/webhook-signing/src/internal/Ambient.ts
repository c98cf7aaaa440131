/** The platform's clock and random generator. */

/** Returns the milliseconds since 1970. */
export const nowMillis = (): number => Date.now()

/** Returns cryptographically random bytes. */
export const randomBytes = (count: number): Uint8Array => crypto.getRandomValues(new Uint8Array(count))
