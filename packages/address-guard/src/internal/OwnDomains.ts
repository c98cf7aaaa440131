/** The service's own domains, which requests must not reach under any name. */
import { Effect } from "effect"
import { hostOf, isBelow } from "./GuardedUrl.ts"
import type { Lookup, LookupFailed } from "./Lookup.ts"
import { isAddress } from "./PublicAddress.ts"

/** Checks of a host against the own domains. */
interface OwnDomains {
  /** Returns whether a name is one of the domains or a subdomain of one. */
  readonly covers: (name: string) => boolean
  /** Returns the CNAME targets of a name, or none without a query if there are no own domains. */
  readonly aliases: (name: string) => Effect.Effect<ReadonlyArray<string>, LookupFailed>
  /** Current addresses of the domains. */
  readonly addresses: Effect.Effect<ReadonlySet<string>>
}

/** Creates the checks. `byAddress` enables the comparison of addresses. Dies if a domain is not a host name. */
export const makeOwnDomains = Effect.fnUntraced(function*(
  names: ReadonlyArray<string>,
  byAddress: boolean,
  lookup: Lookup
) {
  const domains = names.map(normalise)
  const each = byAddress ? yield* Effect.forEach(domains, (domain) => makeAddressesOf(domain, lookup)) : []
  return {
    covers: (name) => domains.some((domain) => isBelow(name, domain)),
    aliases: (name) => domains.length === 0 ? Effect.succeed([]) : lookup.aliases(name),
    addresses: Effect.map(
      Effect.all(each, { concurrency: "unbounded" }),
      (found) => new Set(found.flat())
    )
  } satisfies OwnDomains
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** How long the addresses of own domains are cached. */
const keptFor = "30 seconds"
/** Shorter than the time limit for a host, so that own domains do not make it fail. */
const timeout = "2 seconds"

/** Returns the domain as the URL parser writes hosts. */
const normalise = (domain: string): string => hostOf(new URL(`https://${domain.replace(/\.$/, "")}`))

/**
 * Resolves an own domain, with a cache. If that fails, the last known addresses are used:
 * requests to others must not fail because of the service's own DNS.
 */
const makeAddressesOf = (domain: string, lookup: Lookup): Effect.Effect<Effect.Effect<ReadonlyArray<string>>> => {
  if (isAddress(domain)) return Effect.succeed(Effect.succeed([domain]))
  let known: ReadonlyArray<string> = []
  const lookUp = Effect.suspend(() => lookup.addresses(domain)).pipe(
    Effect.timeout(timeout),
    Effect.tap((found) => Effect.sync(() => known = found)),
    Effect.catch(() => Effect.sync(() => known))
  )
  return Effect.cachedWithTTL(lookUp, keptFor)
}
