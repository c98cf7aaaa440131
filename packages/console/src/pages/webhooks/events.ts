/** Event types and outcomes of webhooks, in words. */

/** The event types. */
export const eventTypes = ["generation.started", "generation.completed", "generation.failed"] as const

/** The event types of an endpoint in words. */
export const typesText = (types: ReadonlyArray<string> | null): string =>
  types === null ? "All events" : types.join(", ")

/** The outcome of an attempt in words. */
export const reasonText = (reason: string): string =>
  reasons[reason] ??
    (reason.startsWith("status_") ? `The receiver responded with ${reason.slice("status_".length)}` : reason)

const reasons: Readonly<Record<string, string>> = {
  ok: "Accepted",
  timeout: "No response in time",
  dns: "The host name was not found",
  connect: "No connection to the receiver",
  tls: "The certificate is not valid",
  blocked_address: "The address is private or reserved",
  redirect: "The receiver redirected; redirects are not followed",
  protocol: "The response was not valid HTTP",
  disabled: "The endpoint was disabled"
}

/** Why a URL cannot be an endpoint, or `undefined`. The service checks more, such as the address. */
export const urlProblem = (text: string): string | undefined => {
  if (text === "") return undefined
  if (!URL.canParse(text)) return "Enter a URL such as https://example.com/webhooks."
  const url = new URL(text)
  if (url.protocol !== "https:") return "The URL must begin with https://."
  if (url.port !== "" && url.port !== "8443") return "The port must be 443 or 8443."
  if (url.username !== "" || url.password !== "") return "The URL must not contain a user name or a password."
  return undefined
}
