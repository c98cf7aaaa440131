/** Reads answers: JSON that the contract types, and the envelope of an error. */
import { type Failure, KinoraError, type Occasion, ResponseError } from "../KinoraError.ts"
import type { ErrorCode, Json, Plan } from "../Wire.ts"
import { isRetryable, retryAfterMillis } from "./retry.ts"

/** The JSON of a good answer. Its type is the contract's word, which the service's tests hold it to. */
export const parse = <A>(response: Response, text: string, occasion: Occasion): A => {
  const json = jsonOf(text)
  if (json === undefined) throw foreign(response, occasion)
  return json as A
}

/** A good answer, but not one of the service. */
export const foreign = (response: Response, occasion: Occasion): ResponseError =>
  new ResponseError("The answer is not the service's own; is baseUrl right?", unknownOf(response), occasion)

/** What a bad answer says. */
export const errorOf = (response: Response, text: string, occasion: Occasion): ResponseError => {
  const unknown = unknownOf(response)
  const envelope = envelopeOf(jsonOf(text))
  if (envelope !== undefined) {
    const { message, ...error } = envelope
    return new ResponseError(message, { ...unknown, ...error }, occasion)
  }
  const isRedirect = response.type === "opaqueredirect" || (response.status >= 300 && response.status < 400)
  const message = isRedirect
    ? "The answer is a redirect; is baseUrl right?"
    : "The answer is not the service's own; it may be a proxy's."
  return new ResponseError(message, unknown, occasion)
}

/** Whether it is an error of this package. */
export const isFailure = (error: unknown): error is Failure => error instanceof KinoraError

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The inner object of the envelope. */
interface Envelope {
  readonly code: ErrorCode
  readonly message: string
  readonly plan: Plan | null
  readonly details: Readonly<Record<string, Json>>
}

/** What is known of an answer without an envelope. */
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

/** Others answer with JSON of theirs, so nothing is taken for granted. */
const envelopeOf = (json: unknown): Envelope | undefined => {
  const error = fieldOf(json, "error")
  const [code, message, plan, details] = ["code", "message", "plan", "details"].map((name) => fieldOf(error, name))
  if (typeof code !== "string" || typeof message !== "string") return undefined
  return {
    // The type is the table's; a newer service may send more, as `ResponseError.code` says.
    code: code as ErrorCode,
    message,
    plan: plan === "studio" || plan === "credits" ? plan : null,
    details: isRecord(details) ? details as Readonly<Record<string, Json>> : {}
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const fieldOf = (value: unknown, name: string): unknown => isRecord(value) ? value[name] : undefined
