/** The service's own domains: nobody's webhooks go there, under whatever name. */
import { Effect } from "effect"
import type { Lookup, LookupFailed } from "./Lookup.ts"
import { isAddress } from "./PublicAddress.ts"
import { hostOf, isBelow } from "./WebhookUrl.ts"

/** What is asked of a host. */
interface OwnDomains {
  /** Whether a name is one of the domains or below one. */
  readonly covers: (name: string) => boolean
  /** The names that a name stands for; nobody is asked where there is no domain to compare with. */
  readonly aliases: (name: string) => Effect.Effect<ReadonlyArray<string>, LookupFailed>
  /** The addresses that the domains have now. */
  readonly addresses: Effect.Effect<ReadonlySet<string>>
}

/** `byAddress`: whether their addresses count. A domain that is none is a defect. */
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

/** How long addresses of own domains are kept: they are the service's, and change when it says. */
const keptFor = "30 seconds"
/** Less than a look-up of a host may take, so that it does not fail because of these. */
const timeout = "2 seconds"

/** As the URL parser writes hosts. */
const normalise = (domain: string): string => hostOf(new URL(`https://${domain.replace(/\.$/, "")}`))

/**
 * An own domain that cannot be looked up has the addresses that it had: were webhooks
 * to fail then, others would pay for what is the service's own fault.
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
