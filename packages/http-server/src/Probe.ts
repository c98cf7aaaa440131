/**
 * Probes of `kinora doctor`: signed requests to which a server responds after some seconds. They find out whether the proxies
 * before the server wait as long as requests can take, and whether every server has the same URL signing keys.
 */

/** The route of probes. Requests are `GET`. */
export const route = "/internal/probes/:seconds"

/** The longest probe in seconds, which is the longest `wait` of a request for a job. */
export const secondsMax = 60

/** Returns the path of a probe that takes some seconds, which a `UrlSigner` signs. */
export const pathOf = (seconds: number | string): string => route.replace(":seconds", String(seconds))
