/** Responses to refused requests, with problem bodies (RFC 9457). */
import { type HeaderVerdict, secondsLeft } from "./headers.ts"

/** The response to a request that exceeds a limit. The type of the problem is the one of the draft. */
export const limitReply = (policy: string, length: number, verdict: HeaderVerdict) => {
  const { limit, remaining, resetsAt, retryAt } = verdict
  const retryAfterSeconds = secondsLeft(verdict)
  return {
    refusal: { reason: "limit", policy, limit, remaining, resetsAt, retryAt, retryAfterSeconds },
    reply: problem(429, { "retry-after": `${retryAfterSeconds}` }, {
      type: "https://iana.org/assignments/http-problem-types#quota-exceeded",
      title: "Too many requests",
      status: 429,
      detail: `At most ${limit} per ${windowText(length)}. Retry after ${retryAfterSeconds} seconds.`,
      "violated-policies": [policy]
    })
  } as const
}

/** The response to a request that cannot be counted. */
export const storageReply = (policy: string, error: unknown) =>
  ({
    refusal: { reason: "storage", policy, error },
    reply: problem(503, {}, {
      type: "about:blank",
      title: "Service Unavailable",
      status: 503,
      detail: "The limit of requests cannot be checked now."
    })
  }) as const

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const windowText = (length: number): string => length === 60_000 ? "minute" : `${length / 1000} seconds`

const problem = (status: number, headers: Readonly<Record<string, string>>, body: object) => ({
  status,
  headers: { "content-type": "application/problem+json", ...headers },
  body: JSON.stringify(body)
})
