/** Reads responses: JSON and the body of errors. */
import { type Failure, KinoraError, type Occasion, ResponseError } from "../KinoraError.ts"
import type { ErrorCode, Json, Plan } from "../Wire.ts"
import { isRetryable, retryAfterMillis } from "./retry.ts"

/** JSON of a successful response. Its type is not checked here; the tests of the service prove it. */
export const parse = <A>(response: Response, text: string, occasion: Occasion): A => {
  const json = jsonOf(text)
  if (json === undefined) throw foreign(response, occasion)
  return json as A
}

/** Error for a successful response that is not from the service. */
export const foreign = (response: Response, occasion: Occasion): ResponseError =>
  new ResponseError("The response is not from the service; check baseUrl.", unknownOf(response), occasion)

/** Error for an error response. */
export const errorOf = (response: Response, text: string, occasion: Occasion): ResponseError => {
  const unknown = unknownOf(response)
  const envelope = envelopeOf(jsonOf(text))
  if (envelope !== undefined) {
    const { message, ...error } = envelope
    return new ResponseError(message, { ...unknown, ...error }, occasion)
  }
  const isRedirect = response.type === "opaqueredirect" || (response.status >= 300 && response.status < 400)
  const message = isRedirect
    ? "The response is a redirect; check baseUrl."
    : "The response is not from the service; it can be from a proxy."
  return new ResponseError(message, unknown, occasion)
}

/** Whether the error is a `KinoraError`. */
export const isFailure = (error: unknown): error is Failure => error instanceof KinoraError

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Content of an error body. */
interface Envelope {
  readonly code: ErrorCode
  readonly message: string
  readonly plan: Plan | null
  readonly details: Readonly<Record<string, Json>>
}

/** Fields of a response without an error body. */
const unknownOf = ({ headers, status }: Response) => ({
  code: "unknown" as const,
  status,
  plan: null,
  details: {},
  requestId: headers.get("x-request-id"),
  retryAfterMillis: retryAfterMillis(headers),
  isRetryable: isRetryable(status, headers)
})

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Proxies respond with other JSON, so every field is checked. */
const envelopeOf = (json: unknown): Envelope | undefined => {
  const error = fieldOf(json, "error")
  const [code, message, plan, details] = ["code", "message", "plan", "details"].map((name) => fieldOf(error, name))
  if (typeof code !== "string" || typeof message !== "string") return undefined
  return {
    // A newer service can send codes that the type lacks, see `ResponseError.code`.
    code: code as ErrorCode,
    message,
    plan: plan === "studio" || plan === "credits" ? plan : null,
    details: isRecord(details) ? details as Readonly<Record<string, Json>> : {}
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const fieldOf = (value: unknown, name: string): unknown => isRecord(value) ? value[name] : undefined
