/** Headers of responses that are stored. */

/** Headers of a response, as Node and web responses have them. */
export type HeaderValues = Readonly<Record<string, number | string | ReadonlyArray<string> | undefined>>

/**
 * Returns the headers that a handler has set: those that differ from the ones before it. Headers of the connection and of
 * the moment are left out, and cookies, since a replay must not restore an older session.
 */
export const storedHeaders = (before: HeaderValues, after: HeaderValues): ReadonlyArray<readonly [string, string]> => {
  const earlier = new Map(pairsOf(before))
  return pairsOf(after).filter(([name, value]) =>
    earlier.get(name) !== value && !transient.has(name) && !/^(x-)?ratelimit/.test(name)
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const transient: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "date",
  "keep-alive",
  "proxy-connection",
  "set-cookie",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade"
])

const pairsOf = (headers: HeaderValues): ReadonlyArray<readonly [string, string]> =>
  Object.entries(headers).flatMap(([name, value]) =>
    value === undefined
      ? []
      : [[name.toLowerCase(), typeof value === "object" ? value.join(", ") : `${value}`] as const]
  )
