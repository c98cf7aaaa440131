/** Requests that are checked against the contract. */
import { Kinora } from "@kinora/client"
import type { RequestOf, ResponseOf, Route } from "./contract.ts"
import { CallError } from "./problem.ts"
import { type Query, urlOf } from "./route.ts"

/** The client of `/v1`. It is authenticated by the cookie of the session; the page never holds an API key. */
export const kinora = new Kinora({ baseUrl: location.origin, apiKey: null, timeoutMillis: 30_000, attemptsMax: 3 })

/** Options of `call`. */
interface CallOptions {
  readonly signal?: AbortSignal | undefined
}

/** Calls an endpoint: `call("GET /admin/v1/accounts/:id/keys", { params: { id } })`. Rejects with `CallError`. */
export const call = async <R extends Route>(
  route: R,
  request: RequestOf<R>,
  { signal }: CallOptions = {}
): Promise<ResponseOf<R>> => {
  const parts = request as { params?: Record<string, string>; query?: Query; payload?: unknown }
  const { method, url } = urlOf(route, parts.params, parts.query)
  const response = await fetch(url, {
    method,
    signal: signal ?? null,
    ...(parts.payload === undefined ? {} : {
      headers: { "content-type": "application/json" },
      body: JSON.stringify(parts.payload)
    })
  })
  if (!response.ok) throw await refusalOf(response)
  return (response.status === 204 ? undefined : await response.json()) as ResponseOf<R>
}

/** Exchanges a sign-in code or an API key for a session. Rejects with `CallError`. */
export const openSession = async (payload: RequestOf<"POST /console/v1/session">["payload"]): Promise<void> => {
  await call("POST /console/v1/session", { payload })
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const refusalOf = async (response: Response): Promise<CallError> => {
  const body: unknown = await response.json().catch(() => null)
  const error = isEnvelope(body) ? body.error : undefined
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN)
  return new CallError(error?.message ?? `The service responded with status ${response.status}.`, {
    code: error?.code ?? "unknown",
    status: response.status,
    details: error?.details ?? {},
    requestId: response.headers.get("x-request-id"),
    retryAfterMillis: Number.isNaN(seconds) ? null : seconds * 1000
  })
}

interface Envelope {
  readonly error: {
    readonly code: string
    readonly message: string
    readonly details?: Readonly<Record<string, unknown>>
  }
}

const isEnvelope = (body: unknown): body is Envelope =>
  typeof body === "object" && body !== null && "error" in body && typeof body.error === "object" &&
  body.error !== null &&
  "message" in body.error && typeof body.error.message === "string"
