/** Restricts what an API key can be used for: until when, for which requests, and from which addresses. */
import { DateTime, Option, Result } from "effect"
import { IpNetwork, NetAddress } from "effect/net"

/** The terms of a key. `None` restricts nothing. */
export interface KeyTerms {
  /** From this time on, the key is rejected. */
  readonly expiresAt: Option.Option<DateTime.Utc>
  /** The names of the only kinds of requests that the key allows. */
  readonly scopes: Option.Option<ReadonlyArray<string>>
  /** Networks from which the key can be used. */
  readonly networks: Option.Option<ReadonlyArray<IpNetwork.IpNetwork>>
}

/** The terms of a key without restrictions. */
export const unrestricted: KeyTerms = {
  expiresAt: Option.none(),
  scopes: Option.none(),
  networks: Option.none()
}

/** Maximum number of scopes of a key. */
export const scopesMax = 100

/** Maximum length of a scope, in UTF-16 code units. */
export const scopeCharsMax = 128

/** Maximum number of networks of a key. */
export const networksMax = 100

/** The last time at which a key can expire, as every driver of Postgres writes times up to it. */
export const expiresAtMax: DateTime.Utc = DateTime.makeUnsafe("9999-12-31T23:59:59.999Z")

/** Returns whether the key is rejected at this time. */
export const hasExpired = ({ expiresAt }: Pick<KeyTerms, "expiresAt">, at: DateTime.Utc): boolean =>
  Option.isSome(expiresAt) && DateTime.isLessThanOrEqualTo(expiresAt.value, at)

/** Returns whether the key allows requests of this kind. */
export const hasScope = ({ scopes }: Pick<KeyTerms, "scopes">, scope: string): boolean =>
  Option.isNone(scopes) || scopes.value.includes(scope)

/**
 * Returns whether a client with this address can use the key. An IPv4 address matches in
 * both of its forms, `192.0.2.1` and `::ffff:192.0.2.1`. An unknown address matches no network.
 */
export const hasAddress = ({ networks }: Pick<KeyTerms, "networks">, address: Option.Option<string>): boolean => {
  if (Option.isNone(networks)) return true
  const parsed = Option.flatMap(address, (text) => Result.getSuccess(NetAddress.ipFromString(withoutZone(text))))
  if (Option.isNone(parsed)) return false
  const canonical = NetAddress.toCanonical(parsed.value)
  return networks.value.some((network) => IpNetwork.contains(network, canonical))
}

/** Returns what is wrong with the terms of a new key, or `undefined`. */
export const problemOf = ({ expiresAt, networks, scopes }: KeyTerms, now: DateTime.Utc): string | undefined => {
  if (Option.exists(expiresAt, DateTime.isLessThanOrEqualTo(now))) return "The key must expire in the future."
  if (Option.exists(expiresAt, isTooLate)) return "The key must expire before the year 10000."
  if (Option.exists(scopes, isEmpty)) return "The key must have at least one scope."
  if (Option.exists(scopes, (scopes) => scopes.length > scopesMax || !scopes.every(isScope))) {
    return `The key must have 1 to ${scopesMax} scopes, which have 1 to ${scopeCharsMax} characters.`
  }
  return Option.exists(networks, (networks) => isEmpty(networks) || networks.length > networksMax)
    ? `The key must have 1 to ${networksMax} networks.`
    : undefined
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Also of times that are not finite. */
const isTooLate = (at: DateTime.Utc): boolean => !DateTime.isLessThanOrEqualTo(at, expiresAtMax)

const isEmpty = (list: ReadonlyArray<unknown>): boolean => list.length === 0

const isScope = (scope: string): boolean =>
  scope !== "" && scope.length <= scopeCharsMax && !scope.includes("\0") && scope.isWellFormed()

/** Removes the interface of a link-local address: `fe80::1%eth0`. */
const withoutZone = (text: string): string => text.split("%", 1)[0] ?? text
