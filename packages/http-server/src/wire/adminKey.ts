/** API keys in the operator API and in the API of the console. */
import type { ApiKey, KeyTerms } from "@kinora/accounts"
import type { Used } from "@kinora/accounts/KeySpending"
import type { CreateKeyRequest } from "@kinora/http-api/AdminAccount"
import { Option, Redacted, Result } from "effect"
import { IpInterface, IpNetwork } from "effect/net"
import * as KeyBudget from "./keyBudget.ts"

/** How long a rolled key stays valid by default, in seconds. */
export const overlapSeconds = 86_400

/** Returns the terms of a request. */
export const termsOf = ({ expires_at, ip_ranges, models, scopes }: CreateKeyRequest): KeyTerms.KeyTerms => ({
  expiresAt: Option.fromUndefinedOr(expires_at),
  scopes: Option.fromUndefinedOr(scopes),
  models: Option.fromUndefinedOr(models),
  networks: Option.map(Option.fromUndefinedOr(ip_ranges), (ranges) => ranges.map(networkOf))
})

/** Converts a new key. */
export const newKeyOf = (
  { key, record: { budget, budgetMax, createdAt, createdBy, id, name, prefix, terms } }: ApiKey.NewKey
) => ({
  id,
  name,
  prefix,
  key: Redacted.value(key),
  ...termsToWire(terms),
  budget: KeyBudget.toWire(budget),
  budget_max: KeyBudget.toWire(budgetMax),
  created_at: createdAt,
  created_by: createdBy
})

/** Converts a key, without its secret. `used` is what is used of its budget, if it has one. */
export const keyOf = (
  { budget, budgetMax, createdAt, createdBy, id, lastUsedAt, name, prefix, revokedAt, terms }: ApiKey.ApiKey,
  used: Used | undefined
) => ({
  id,
  name,
  prefix,
  ...termsToWire(terms),
  budget: KeyBudget.toWire(budget),
  budget_max: KeyBudget.toWire(budgetMax),
  used: used ?? null,
  created_at: createdAt,
  created_by: createdBy,
  last_used_at: Option.getOrNull(lastUsedAt),
  revoked_at: Option.getOrNull(revokedAt)
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Returns the network of a range that the schema has checked. An address is a network of its own. */
const networkOf = (range: string): IpNetwork.IpNetwork =>
  IpNetwork.fromInterface(Result.getOrThrow(IpInterface.fromString(range, { prefix: "optional" })))

const termsToWire = ({ expiresAt, models, networks, scopes }: KeyTerms.KeyTerms) => ({
  expires_at: Option.getOrNull(expiresAt),
  scopes: Option.getOrNull(scopes),
  models: Option.getOrNull(models),
  ip_ranges: Option.getOrNull(Option.map(networks, (networks) => networks.map(IpNetwork.format)))
})
