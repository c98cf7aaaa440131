/** Headers of a result. */

/** The part of a result that headers have. */
export interface HeaderVerdict {
  readonly accepted: boolean
  readonly limit: number
  readonly remaining: number
  readonly at: Date
  readonly resetsAt: Date
  readonly retryAt: Date
}

/**
 * Seconds until all of the limit is free, or until a refused request fits, by the clock of the storage. At least 1.
 */
export const secondsLeft = ({ accepted, at, resetsAt, retryAt }: HeaderVerdict): number =>
  Math.max(Math.ceil(((accepted ? resetsAt : retryAt).getTime() - at.getTime()) / 1000), 1)

/** Headers of draft-ietf-httpapi-ratelimit-headers-11. The length of the window is in milliseconds. */
export const headersOf = (policy: string, length: number, verdict: HeaderVerdict): Record<string, string> => ({
  "ratelimit-policy": `"${policy}";q=${verdict.limit};w=${Math.ceil(length / 1000)}`,
  "ratelimit": `"${policy}";r=${verdict.remaining};t=${secondsLeft(verdict)}`
})

/** Headers that many services sent before the draft. */
export const legacyHeadersOf = ({ limit, remaining, resetsAt }: HeaderVerdict): Record<string, string> => ({
  "x-ratelimit-limit": `${limit}`,
  "x-ratelimit-remaining": `${remaining}`,
  "x-ratelimit-reset": `${Math.ceil(resetsAt.getTime() / 1000)}`
})
