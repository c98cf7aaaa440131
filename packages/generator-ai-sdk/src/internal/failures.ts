/** Errors of the AI SDK, and the reasons that they are for a generator. No text of a provider is passed on. */
import { Permanent, type Reason, Transient, UnknownOutcome } from "@kinora/generator/GeneratorError"
import { permanent, rejectionOfCodes } from "@kinora/generator/ProviderFailure"
import {
  APICallError,
  LoadAPIKeyError,
  NoImageGeneratedError,
  NoSuchModelError,
  UnsupportedFunctionalityError
} from "ai"
import { Duration, Predicate } from "effect"

/** The result is missing or unusable. */
export const unusable = new Permanent({
  code: "upstream_error",
  reason: "provider",
  message: "The provider of the model returned no usable result, or the result was lost. Try again."
})

/** Returns the reason of a failed call. The outcome is unknown if the error leaves open whether work began. */
export const reasonOf = (cause: unknown): Reason => {
  if (LoadAPIKeyError.isInstance(cause) || NoSuchModelError.isInstance(cause)) return permanent("auth")
  if (UnsupportedFunctionalityError.isInstance(cause)) return permanent("invalid")
  if (NoImageGeneratedError.isInstance(cause)) return unusable
  if (!APICallError.isInstance(cause)) return unconnected(cause)
  const { responseBody, responseHeaders = {}, statusCode } = cause
  return statusCode === undefined
    ? unconnected(cause)
    : reasonOfStatus(statusCode, codesOf(responseBody), retryAfterOf(responseHeaders))
}

/** Returns the reason of a failed call for a status, which can be repeated. */
export const reasonOfStatusCall = (cause: unknown): Reason => {
  const reason = reasonOf(cause)
  if (reason._tag === "UnknownOutcome") return new Transient({})
  // The provider no longer has the job, or does not accept its own operation.
  const isLost = APICallError.isInstance(cause) && lost.has(cause.statusCode ?? 0)
  return isLost && !isModerated(reason) ? unusable : reason
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const lost: ReadonlySet<number> = new Set([400, 404, 410, 422])

const isModerated = (reason: Reason) => reason._tag === "Permanent" && reason.code === "content_rejected"

const reasonOfStatus = (
  status: number,
  codes: ReadonlyArray<string>,
  retryAfter: Duration.Duration | undefined
): Reason => {
  if (status < 400 || status === 408) return new UnknownOutcome()
  const rejection = rejectionOfCodes(codes)
  if (status === 429 && rejection === undefined) return transient(retryAfter)
  // Proxies send 503 also after they forwarded a request. A server that names a time did not process it.
  if (status === 503 && retryAfter !== undefined) return transient(retryAfter)
  if (status >= 500) return new UnknownOutcome()
  return permanent(rejection ?? (status <= 404 && status !== 400 ? "auth" : "invalid"))
}

const transient = (retryAfter: Duration.Duration | undefined): Transient =>
  new Transient(retryAfter === undefined ? {} : { retryAfter })

/** Nothing began if there was no connection. */
const unconnected = (error: unknown): Reason => {
  for (let cause = error, depth = 0; Predicate.isObject(cause) && depth < causesMax; depth++) {
    if (Predicate.hasProperty(cause, "code") && connecting.has(String(cause.code))) return new Transient({})
    cause = Predicate.hasProperty(cause, "cause") ? cause.cause : undefined
  }
  return new UnknownOutcome()
}

/** Causes of an error that are read. */
const causesMax = 8

const connecting = new Set([
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
  "UND_ERR_CONNECT_TIMEOUT"
])

/** Returns `error.code` and `error.type` of a body. */
const codesOf = (body: string | undefined): ReadonlyArray<string> => {
  try {
    const parsed: unknown = JSON.parse(body ?? "")
    const error = Predicate.hasProperty(parsed, "error") ? parsed.error : parsed
    const codes = ["code", "type"].map((name) => Predicate.hasProperty(error, name) ? error[name] : undefined)
    return codes.filter((code) => typeof code === "string").map((code) => code.toLowerCase())
  } catch {
    return []
  }
}

const retryAfterOf = (headers: Readonly<Record<string, string>>): Duration.Duration | undefined => {
  const text = headers["retry-after"]
  return text !== undefined && /^\d{1,6}$/.test(text)
    ? Duration.min(Duration.seconds(Number(text)), Duration.hours(1))
    : undefined
}
