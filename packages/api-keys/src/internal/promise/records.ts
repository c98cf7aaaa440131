/** The records of keys, and what programs pass, as values without types of Effect. */
import { DateTime, Effect, Option, Redacted, Result } from "effect"
import { IpNetwork } from "effect/net"
import * as Service from "../../ApiKey.ts"
import type { KeyTerms } from "../../KeyTerms.ts"
import { KeyNotFoundError, TermsInvalidError } from "./errors.ts"

/** The restrictions of a key. An omitted or `undefined` field restricts nothing. */
export interface Terms {
  /** From this time on, the key is rejected. */
  readonly expiresAt?: Date | undefined
  /** The names of the only kinds of requests that the key allows. `hasScope` checks them. */
  readonly scopes?: ReadonlyArray<string> | undefined
  /** The networks of the only clients that can use the key, such as `192.0.2.0/24`. `verify` checks them. */
  readonly networks?: ReadonlyArray<string> | undefined
}

/** The record of a key. */
export interface ApiKey extends Terms {
  /** `key_…` */
  readonly id: string
  readonly owner: string
  readonly name: string
  /** The first characters of the key, for recognition. */
  readonly prefix: string
  readonly metadata: Service.Metadata
  /** Id of the first key of the line: the key itself, or the one that was rolled first. */
  readonly line: string
  readonly createdAt: Date
  readonly createdBy: string | null
  /** Accurate to a minute. */
  readonly lastUsedAt: Date | undefined
  readonly revokedAt: Date | undefined
}

/** A new key. */
export interface NewKey {
  /** The key itself, which cannot be read again. */
  readonly key: string
  readonly record: ApiKey
}

/** Returns a record for programs. */
export const recordOf = ({ createdAt, lastUsedAt, revokedAt, terms, ...key }: Service.ApiKey): ApiKey => ({
  ...key,
  expiresAt: dateOf(terms.expiresAt),
  scopes: Option.getOrUndefined(terms.scopes),
  networks: Option.getOrUndefined(terms.networks)?.map(IpNetwork.format),
  createdAt: DateTime.toDateUtc(createdAt),
  lastUsedAt: dateOf(lastUsedAt),
  revokedAt: dateOf(revokedAt)
})

/** Returns a new key for programs. */
export const newKeyOf = ({ key, record }: Service.NewKey): NewKey => ({
  key: Redacted.value(key),
  record: recordOf(record)
})

/** Returns terms of the service, or fails with what is wrong with them. */
export const termsOf = (
  { expiresAt, networks, scopes }: Terms
): Effect.Effect<KeyTerms, TermsInvalidError> =>
  Effect.gen(function*() {
    if (expiresAt !== undefined && Number.isNaN(expiresAt.getTime())) {
      return yield* Effect.fail(new TermsInvalidError({ problem: "`expiresAt` must be a valid time." }))
    }
    const parsed = networks === undefined ? undefined : yield* Effect.forEach(networks, networkOf)
    return {
      expiresAt: Option.map(Option.fromUndefinedOr(expiresAt), DateTime.fromDateUnsafe),
      scopes: Option.fromUndefinedOr(scopes),
      networks: Option.fromUndefinedOr(parsed)
    }
  })

/** Returns the id of a key, or fails, since no key has any other id. */
export const idOf = (owner: string, id: string): Effect.Effect<Service.KeyId, KeyNotFoundError> => {
  const parsed = Service.KeyId.parse(id)
  return parsed === undefined ? Effect.fail(new KeyNotFoundError({ owner, id: shown(id) })) : Effect.succeed(parsed)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const shownChars = 12

/** Shortens an invalid id. It can be a key, which errors do not contain. */
const shown = (id: string): string => id.length <= shownChars ? id : `${id.slice(0, shownChars)}…`

const dateOf = (time: Option.Option<DateTime.Utc>): Date | undefined =>
  Option.getOrUndefined(Option.map(time, DateTime.toDateUtc))

const networkOf = (text: string) => {
  const network = IpNetwork.fromString(text)
  return Result.isSuccess(network)
    ? Effect.succeed(network.success)
    : Effect.fail(new TermsInvalidError({ problem: `Expected a network such as 192.0.2.0/24, got "${text}".` }))
}
