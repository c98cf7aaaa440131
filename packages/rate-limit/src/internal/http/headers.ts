/** Headers of a result. */

/** The part of a result that headers have. */
export interface HeaderVerdict {
  readonly limit: number
  readonly remaining: number
  readonly at: Date
  readonly resetsAt: Date
}

/** Seconds until the end of the minute, by the clock of the storage. At least 1. */
export const secondsLeft = ({ at, resetsAt }: HeaderVerdict): number =>
  Math.max(Math.ceil((resetsAt.getTime() - at.getTime()) / 1000), 1)

/** Headers of draft-ietf-httpapi-ratelimit-headers-11. */
export const headersOf = (policy: string, verdict: HeaderVerdict): Record<string, string> => ({
  "ratelimit-policy": `"${policy}";q=${verdict.limit};w=60`,
  "ratelimit": `"${policy}";r=${verdict.remaining};t=${secondsLeft(verdict)}`
})

/** Headers that many services sent before the draft. */
export const legacyHeadersOf = ({ limit, remaining, resetsAt }: HeaderVerdict): Record<string, string> => ({
  "x-ratelimit-limit": `${limit}`,
  "x-ratelimit-remaining": `${remaining}`,
  "x-ratelimit-reset": `${Math.floor(resetsAt.getTime() / 1000)}`
})
