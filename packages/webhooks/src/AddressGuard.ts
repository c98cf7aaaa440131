/**
 * Keeps requests on other people's behalf away from where they have no business:
 * the own network, this machine, the service's own domains (D44).
 */
import { Context, type Duration, Effect, Layer, Result, Schema } from "effect"
import { type Lookup, LookupFailed, makeDns, makeSystem } from "./internal/guard/Lookup.ts"
import { makeOwnDomains } from "./internal/guard/OwnDomains.ts"
import { classify, isAddress } from "./internal/guard/PublicAddress.ts"
import { hostOf, isPublicName, parse } from "./internal/guard/WebhookUrl.ts"

export { type Lookup, LookupFailed } from "./internal/guard/Lookup.ts"
export { classify } from "./internal/guard/PublicAddress.ts"

/** Why a URL may not be called. `dns`: its host has no address now. */
export class AddressRefused extends Schema.TaggedError<AddressRefused>("@kinora/webhooks/AddressRefused")(
  "AddressRefused",
  {
    problem: Schema.Literals(["url", "scheme", "port", "user_info", "own_domain", "address", "dns"]),
    /** For people: what is wrong and what to do. Never an address of the own network. */
    message: Schema.String
  }
) {}

/** A URL that may be called, and the addresses to connect to. */
export interface Target {
  /** Normalised: lower-case host in ASCII without a dot at the end. */
  readonly url: URL
  /**
   * What the host resolved to and was checked, at least one, IPv4 first. Connections go
   * to these and no others, whatever the name says a moment later.
   */
  readonly addresses: ReadonlyArray<string>
}

/** Checks URLs. */
export class AddressGuard extends Context.Service<AddressGuard, {
  /** Looks the host up and checks every address that it has. Refuses when it cannot be looked up. */
  readonly check: (url: string) => Effect.Effect<Target, AddressRefused>
}>()("@kinora/webhooks/AddressGuard") {}

/** What is allowed, each with its default. */
export interface AddressGuardOptions {
  /**
   * Allows `http`, every port and every address, own domains included, and looks names up
   * as the system does: for development and tests only. Default `false`.
   */
  readonly allowPrivate?: boolean | undefined
  /** Default 443 and 8443. */
  readonly ports?: ReadonlyArray<number> | undefined
  /**
   * Domains of the service. Refused are they, what is below them, names that stand for one
   * of these (CNAME), and hosts with an address that one of them has now. Default none.
   */
  readonly ownDomains?: ReadonlyArray<string> | undefined
  /**
   * Whether to refuse by addresses of own domains. `false` where these are behind a
   * content-delivery network, which gives the same addresses to others. Default `true`.
   */
  readonly ownAddresses?: boolean | undefined
  /**
   * Name servers to ask, as addresses with or without a port. Default the system's. One that
   * gives IPv4 hosts addresses behind NAT64 (DNS64) has these hosts refused: name another.
   */
  readonly nameServers?: ReadonlyArray<string> | undefined
  /** Looks names up in place of name servers. */
  readonly lookup?: Lookup | undefined
  /** How long looking a host up may take. Default 5 seconds. */
  readonly lookupTimeout?: Duration.Input | undefined
  /** Addresses that a host may have. Default 64. */
  readonly addressesMax?: number | undefined
  /** Length of a URL. Default 2048. */
  readonly urlLengthMax?: number | undefined
}

/** A guard of these rules. */
export const layerWith = (options: AddressGuardOptions = {}): Layer.Layer<AddressGuard> =>
  Layer.effect(AddressGuard, make(options))

/** See `layerWith`. */
export const make = Effect.fnUntraced(function*(options: AddressGuardOptions) {
  const allowPrivate = options.allowPrivate ?? false
  const rules = { allowPrivate, ports: options.ports ?? [443, 8443], lengthMax: options.urlLengthMax ?? 2048 }
  const lookup = options.lookup ??
    (allowPrivate && options.nameServers === undefined ? makeSystem() : makeDns(options.nameServers))
  const timeout = options.lookupTimeout ?? "5 seconds"
  const addressesMax = options.addressesMax ?? 64
  const own = yield* makeOwnDomains(allowPrivate ? [] : options.ownDomains ?? [], options.ownAddresses ?? true, lookup)

  const lookUp = (host: string) =>
    isAddress(host)
      ? Effect.map(own.addresses, (ownAddresses) => ({ addresses: [host], aliases: [], ownAddresses }))
      : Effect.all(
        { addresses: lookup.addresses(host), aliases: own.aliases(host), ownAddresses: own.addresses },
        { concurrency: "unbounded" }
      ).pipe(
        Effect.timeoutOrElse({ duration: timeout, orElse: () => Effect.fail(new LookupFailed()) }),
        Effect.catchTag("LookupFailed", () => refuse("dns", "The host could not be looked up."))
      )

  const check = Effect.fn("AddressGuard.check")(function*(input: string) {
    const parsed = parse(input, rules)
    if (Result.isFailure(parsed)) return yield* new AddressRefused(parsed.failure)
    const url = parsed.success
    const host = hostOf(url)
    if (own.covers(host)) return yield* refuseOwn
    if (!allowPrivate && !isAddress(host) && !isPublicName(host)) return yield* refusePrivate
    const { addresses, aliases, ownAddresses } = yield* lookUp(host)
    if (addresses.length === 0) return yield* refuse("dns", "The host has no address.")
    if (addresses.length > addressesMax) return yield* refuse("address", "The host has too many addresses.")
    if (aliases.some(own.covers) || addresses.some((address) => ownAddresses.has(address))) return yield* refuseOwn
    if (!allowPrivate && !addresses.every((address) => classify(address) === "public")) return yield* refusePrivate
    return { url, addresses: [...addresses].toSorted(byFamily) }
  })

  return AddressGuard.of({ check })
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const refuse = (problem: AddressRefused["problem"], message: string) =>
  Effect.fail(new AddressRefused({ problem, message }))

const refuseOwn = refuse("own_domain", "The host is one of this service. Webhooks are for other hosts.")

/** Which address it is stays unsaid: with it, the own DNS could be read from outside. */
const refusePrivate = refuse("address", "The host must be one of the internet, with public addresses only.")

/** IPv4 first, which more networks reach. */
const byFamily = (a: string, b: string): number => Number(a.includes(":")) - Number(b.includes(":"))
