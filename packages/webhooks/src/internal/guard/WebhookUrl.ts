/** Rules on what a URL says, before anything is looked up. */
import { Result } from "effect"
import { isAddress } from "./PublicAddress.ts"

/** The rule that is broken, and what to tell people. */
export interface Broken {
  readonly problem: "url" | "scheme" | "port" | "user_info"
  readonly message: string
}

/** What is allowed. */
export interface UrlRules {
  /** `http` too, and any port. */
  readonly allowPrivate: boolean
  readonly ports: ReadonlyArray<number>
  /** Length of a URL. */
  readonly lengthMax: number
}

/**
 * Reads a URL as browsers do (WHATWG), which makes one address of `0x7f.1`, `127.1` and
 * `2130706433`, ASCII of international names, and nothing of zone ids and broken escapes.
 * A dot at the end of the host, which some know by another name than without, is dropped.
 */
export const parse = (input: string, rules: UrlRules): Result.Result<URL, Broken> => {
  if (input.length > rules.lengthMax) return broken("url", `The URL is longer than ${rules.lengthMax} characters.`)
  const url = URL.parse(input)
  if (url === null) return broken("url", "This is not an absolute URL.")
  if (url.protocol !== "https:" && !(rules.allowPrivate && url.protocol === "http:")) {
    return broken("scheme", "The URL must begin with https://.")
  }
  if (url.username !== "" || url.password !== "") {
    return broken("user_info", "The URL must not contain a user name or password.")
  }
  if (url.href.includes("#")) return broken("url", "The URL must not have a fragment.")
  if (!rules.allowPrivate && !rules.ports.includes(url.port === "" ? 443 : Number(url.port))) {
    return broken("port", `The port must be one of ${rules.ports.join(", ")}.`)
  }
  if (url.hostname.endsWith(".")) url.hostname = url.hostname.slice(0, -1)
  // An international name is longer in ASCII.
  if (url.href.length > rules.lengthMax) return broken("url", `The URL is longer than ${rules.lengthMax} characters.`)
  return isAddress(hostOf(url)) || hostName.test(url.hostname)
    ? Result.succeed(url)
    : broken("url", "The URL's host is not a host name.")
}

/** The host as look-ups and sockets want it: of IPv6 without brackets. */
export const hostOf = (url: URL): string => url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname

/** Whether a name is a domain or below it. Both in lower case and without a dot at the end. */
export const isBelow = (name: string, domain: string): boolean => name === domain || name.endsWith(`.${domain}`)

/** Whether a name can be one of the public DNS: not a single label, nor below a domain that is kept for networks. */
export const isPublicName = (name: string): boolean =>
  name.includes(".") && !privateDomains.some((domain) => isBelow(name, domain))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/**
 * Top-level names that are not of the public DNS, so whatever answers for them is the
 * own network: RFC 6761, 6762, 7686, 8375, 9476, and ICANN's `internal`.
 */
const privateDomains = ["localhost", "local", "internal", "home.arpa", "test", "example", "invalid", "onion", "alt"]

const hostName = /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/

const broken = (problem: Broken["problem"], message: string): Result.Result<never, Broken> =>
  Result.fail({ problem, message })
