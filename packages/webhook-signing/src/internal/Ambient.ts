/** What signing takes from the platform: time and chance. */

/** Milliseconds since 1970, UTC. */
export const nowMillis = (): number => Date.now()

/** That many bytes which nobody can guess. */
export const randomBytes = (count: number): Uint8Array => crypto.getRandomValues(new Uint8Array(count))
