/** Rules for URLs that need no DNS. */
import { Result } from "effect"
import { isAddress } from "./PublicAddress.ts"

/** A broken rule with an explanation for users. */
export interface Broken {
  readonly problem: "url" | "scheme" | "port" | "user_info"
  readonly message: string
}

/** Rules for URLs. */
export interface UrlRules {
  /** Allows `http` and any port. */
  readonly allowPrivate: boolean
  readonly ports: ReadonlyArray<number>
  /** Characters of a URL. */
  readonly lengthMax: number
}

/**
 * Parses a URL by the WHATWG standard, which normalizes `0x7f.1`, `127.1` and `2130706433` to
 * one address, converts international names to ASCII, and rejects zone ids and invalid
 * escapes. Removes the trailing dot of the host, because some servers treat it as another name.
 */
export const parse = (input: string, rules: UrlRules): Result.Result<URL, Broken> => {
  if (input.length > rules.lengthMax) return broken("url", `The URL is longer than ${rules.lengthMax} characters.`)
  const url = URL.parse(input)
  if (url === null) return broken("url", "The URL is not an absolute URL.")
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
  // International names are longer in ASCII.
  if (url.href.length > rules.lengthMax) return broken("url", `The URL is longer than ${rules.lengthMax} characters.`)
  return isAddress(hostOf(url)) || hostName.test(url.hostname)
    ? Result.succeed(url)
    : broken("url", "The URL's host is not a host name.")
}

/** Returns the host without the brackets of IPv6. */
export const hostOf = (url: URL): string => url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname

/** Returns whether a name is a domain or a subdomain of it. Both are lower case without a trailing dot. */
export const isBelow = (name: string, domain: string): boolean => name === domain || name.endsWith(`.${domain}`)

/** Returns whether a name can exist in the public DNS: it has several labels and no reserved top-level domain. */
export const isPublicName = (name: string): boolean =>
  name.includes(".") && !privateDomains.some((domain) => isBelow(name, domain))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/**
 * Reserved top-level domains (RFC 6761, 6762, 7686, 8375, 9476 and ICANN's `internal`). Only private networks resolve
 * them.
 */
const privateDomains = ["localhost", "local", "internal", "home.arpa", "test", "example", "invalid", "onion", "alt"]

const hostName = /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/

const broken = (problem: Broken["problem"], message: string): Result.Result<never, Broken> =>
  Result.fail({ problem, message })
