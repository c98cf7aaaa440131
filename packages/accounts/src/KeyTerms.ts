/**
 * Restricts what an API key can be used for: until when, for which requests, with which
 * models, and from which addresses.
 */
import { DateTime, Option, Result, Schema } from "effect"
import { IpNetwork, NetAddress } from "effect/net"

/**
 * A kind of request. `generate`: creates and cancels jobs, and uploads images. `read`: reads
 * jobs, results and models. `account:read`: reads the account and its usage. `webhooks`: manages the webhook endpoints of
 * the account.
 */
export const Scope = Schema.Literals(["generate", "read", "account:read", "webhooks"])
/** Type of `Scope`. */
export type Scope = typeof Scope.Type

/** The terms of a key. `None` restricts nothing. */
export interface KeyTerms {
  /** From this time on, the key is rejected. */
  readonly expiresAt: Option.Option<DateTime.Utc>
  /** The only requests that the key allows. */
  readonly scopes: Option.Option<ReadonlyArray<Scope>>
  /** Ids of the only models with which the key creates jobs. */
  readonly models: Option.Option<ReadonlyArray<string>>
  /** The networks that contain the addresses of the only clients that can use the key. */
  readonly networks: Option.Option<ReadonlyArray<IpNetwork.IpNetwork>>
}

/** The terms of a key without restrictions. */
export const unrestricted: KeyTerms = {
  expiresAt: Option.none(),
  scopes: Option.none(),
  models: Option.none(),
  networks: Option.none()
}

/** Maximum number of models of a key. */
export const modelsMax = 100

/** Maximum number of networks of a key. */
export const networksMax = 100

/** Maximum length of the id of a model, in UTF-16 code units. */
export const modelCharsMax = 128

/** Returns whether the key is rejected at this time. */
export const hasExpired = ({ expiresAt }: KeyTerms, at: DateTime.Utc): boolean =>
  Option.isSome(expiresAt) && DateTime.isLessThanOrEqualTo(expiresAt.value, at)

/** Returns whether the key allows requests of this kind. */
export const hasScope = ({ scopes }: KeyTerms, scope: Scope): boolean =>
  Option.isNone(scopes) || scopes.value.includes(scope)

/** Returns whether the key allows jobs of this model. */
export const hasModel = ({ models }: KeyTerms, model: string): boolean =>
  Option.isNone(models) || models.value.includes(model)

/**
 * Returns whether a client with this address can use the key. An IPv4 address matches in
 * both of its forms, `192.0.2.1` and `::ffff:192.0.2.1`. An unknown address matches no network.
 */
export const hasAddress = ({ networks }: KeyTerms, address: Option.Option<string>): boolean => {
  if (Option.isNone(networks)) return true
  const parsed = Option.flatMap(address, (text) => Result.getSuccess(NetAddress.ipFromString(withoutZone(text))))
  if (Option.isNone(parsed)) return false
  const canonical = NetAddress.toCanonical(parsed.value)
  return networks.value.some((network) => IpNetwork.contains(network, canonical))
}

/** Returns what is wrong with the terms of a new key, or `undefined`. */
export const problemOf = ({ expiresAt, models, networks, scopes }: KeyTerms, now: DateTime.Utc): string | undefined => {
  if (Option.exists(expiresAt, DateTime.isLessThanOrEqualTo(now))) return "The key must expire in the future."
  if (Option.exists(scopes, isEmpty)) return "The key must have at least one scope."
  if (Option.exists(models, (models) => isEmpty(models) || models.length > modelsMax || !models.every(isModel))) {
    return `The key must have 1 to ${modelsMax} models, whose ids have 1 to ${modelCharsMax} characters.`
  }
  return Option.exists(networks, (networks) => isEmpty(networks) || networks.length > networksMax)
    ? `The key must have 1 to ${networksMax} networks.`
    : undefined
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const isEmpty = (list: ReadonlyArray<unknown>): boolean => list.length === 0

const isModel = (id: string): boolean =>
  id !== "" && id.length <= modelCharsMax && !id.includes("\0") && id.isWellFormed()

/** Removes the interface of a link-local address: `fe80::1%eth0`. */
const withoutZone = (text: string): string => text.split("%", 1)[0] ?? text
