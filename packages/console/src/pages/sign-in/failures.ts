/** Why a sign-in with an identity provider failed, in words. */

/** A message with what to do next. */
export interface Failure {
  readonly title: string
  readonly detail: string
}

/** Reads the reason in the fragment of the sign-in page. Returns `null` without one. Links can contain any text. */
export const failureOf = (fragment: URLSearchParams): Failure | null => {
  const reason = fragment.get("sign_in_error")
  if (reason === null) return null
  const email = fragment.get("email")?.slice(0, emailCharsMax) ?? null
  const describe = reasons.get(reason) ?? rejected
  return describe(email)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const emailCharsMax = 254

type Describe = (email: string | null) => Failure

const rejected: Describe = () => ({
  title: "The sign-in was rejected",
  detail: "Try again. If it is rejected again, ask your operator."
})

const reasons: ReadonlyMap<string, Describe> = new Map<string, Describe>([
  ["denied", () => ({
    title: "You were not signed in",
    detail: "You or the identity provider have cancelled the sign-in. Try again, or ask your operator for access."
  })],
  ["expired", () => ({
    title: "The sign-in has expired",
    detail: "It took longer than 10 minutes, or began in another browser or tab. Try again."
  })],
  ["no_account", (email) => ({
    title: email === null ? "You have no account" : `No account for ${email}`,
    detail: "Ask your operator for access."
  })],
  ["email_not_verified", (email) => ({
    title: "Your e-mail address is not verified",
    detail: `Verify ${email ?? "it"} with the identity provider, or ask your operator for access.`
  })],
  ["provider_unavailable", () => ({
    title: "The identity provider does not respond",
    detail: "Try again in a minute, or sign in with a link or an API key."
  })],
  ["rate_limited", () => ({ title: "Too many attempts", detail: "Wait a minute, then try again." })],
  ["unavailable", () => ({ title: "The service is unavailable", detail: "Try again in a minute." })],
  ["rejected", rejected]
])
