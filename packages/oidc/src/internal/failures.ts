/** Failures of `openid-client`, and what they mean for a sign-in. */
import { ProviderUnavailable, SignInRejected } from "@kinora/sessions/IdentityProviders"

/**
 * Returns the failure of a sign-in. The problem names codes of OAuth and of the library only, since descriptions can
 * contain texts of the browser.
 */
export const failureOf = (provider: string, cause: unknown): ProviderUnavailable | SignInRejected => {
  const error = textOf(cause, "error")
  const code = textOf(cause, "code")
  const problem = error ?? code ?? (cause instanceof Error ? cause.name : "unknown")
  if (error !== undefined) {
    if (denials.has(error)) return new SignInRejected({ provider, reason: "denied", problem })
    return outages.has(error)
      ? new ProviderUnavailable({ provider, problem })
      : new SignInRejected({ provider, reason: "rejected", problem })
  }
  // Without a code of the library, the network failed.
  return code === undefined || !code.startsWith("OAUTH_") || outages.has(code)
    ? new ProviderUnavailable({ provider, problem: networkProblemOf(cause) ?? problem })
    : new SignInRejected({ provider, reason: "rejected", problem })
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Errors of an authorization response: the person has refused, or the provider has. */
const denials: ReadonlySet<string> = new Set([
  "access_denied",
  "consent_required",
  "interaction_required",
  "login_required"
])

/** Errors that other sign-ins have too: the provider fails, does not respond, or its registration of the client is another one. */
const outages: ReadonlySet<string> = new Set([
  "server_error",
  "temporarily_unavailable",
  "invalid_client",
  "unauthorized_client",
  "invalid_scope",
  "unsupported_response_type",
  "OAUTH_TIMEOUT",
  "OAUTH_ABORT",
  "OAUTH_RESPONSE_IS_NOT_CONFORM",
  "OAUTH_RESPONSE_IS_NOT_JSON",
  "OAUTH_PARSE_ERROR",
  "OAUTH_HTTP_REQUEST_FORBIDDEN",
  "OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED",
  "OAUTH_WWW_AUTHENTICATE_CHALLENGE"
])

/** Returns a property that is a short text. */
const textOf = (cause: unknown, name: "code" | "error"): string | undefined => {
  if (typeof cause !== "object" || cause === null) return undefined
  const value: unknown = Reflect.get(cause, name)
  return typeof value === "string" && /^[\x21-\x7e]{1,64}$/.test(value) ? value : undefined
}

/** Returns the code of a failure of the network, such as `ECONNREFUSED`. */
const networkProblemOf = (cause: unknown): string | undefined => {
  const inner: unknown = typeof cause === "object" && cause !== null ? Reflect.get(cause, "cause") : undefined
  return textOf(inner, "code")
}
