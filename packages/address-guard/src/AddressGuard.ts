/**
 * Protection against server-side request forgery: rejects URLs that lead to private networks,
 * to this machine or to the service's own domains.
 */
import { Context, type Duration, Effect, Layer, Result, Schema } from "effect"
import { isIPv6, type LookupFunction } from "node:net"
import { networkInterfaces } from "node:os"
import { hostOf, isPublicName, parse } from "./internal/GuardedUrl.ts"
import { type Lookup, LookupFailed, makeDns, makeSystem } from "./internal/Lookup.ts"
import { makeOwnDomains } from "./internal/OwnDomains.ts"
import { canonical, classify, isAddress } from "./internal/PublicAddress.ts"

export { hostOf } from "./internal/GuardedUrl.ts"
export { type Lookup, LookupFailed } from "./internal/Lookup.ts"

/** The URL must not be called. The problem is `dns` if the host has no address or could not be resolved. */
export class AddressRefused extends Schema.TaggedError<AddressRefused>("@kinora/address-guard/AddressRefused")(
  "AddressRefused",
  {
    problem: Schema.Literals(["url", "scheme", "port", "user_info", "own_domain", "address", "dns"]),
    /** Explanation for users. Never contains an address of a private network. */
    message: Schema.String
  }
) {}

/** A checked URL with the addresses to connect to. */
export interface Target {
  /** Normalized: lower-case ASCII host without a trailing dot. */
  readonly url: URL
  /**
   * Checked addresses of the host, at least one, IPv4 first. Connections must use only these,
   * because the name may resolve to other addresses a moment later.
   */
  readonly addresses: ReadonlyArray<string>
}

/** Checks URLs. */
export class AddressGuard extends Context.Service<AddressGuard, {
  /** Checks the URL, resolves its host and checks every address. Fails if the host cannot be resolved. */
  readonly check: (url: string) => Effect.Effect<Target, AddressRefused>
}>()("@kinora/address-guard/AddressGuard") {}

/** Options for `AddressGuard.layerWith`. */
export interface AddressGuardOptions {
  /**
   * Allows `http`, every port and every address, including own domains, and resolves names with
   * the system resolver. For development and tests only. Default `false`.
   */
  readonly allowPrivate?: boolean | undefined
  /** Allowed ports. Default 443 and 8443. */
  readonly ports?: ReadonlyArray<number> | undefined
  /**
   * Domains of the service. Rejects these domains, their subdomains, names with a CNAME to one
   * of them, and hosts that share an address with one of them. Default none.
   */
  readonly ownDomains?: ReadonlyArray<string> | undefined
  /**
   * Whether to reject hosts that share an address with an own domain. Set to `false` if own
   * domains are behind a content delivery network, which shares addresses. Default `true`.
   */
  readonly ownAddresses?: boolean | undefined
  /**
   * Name servers, as addresses with or without a port. Default: those of the system. Use a name
   * server without DNS64: the guard rejects the NAT64 addresses that DNS64 returns for IPv4 hosts.
   */
  readonly nameServers?: ReadonlyArray<string> | undefined
  /**
   * Returns the addresses of this machine, which are rejected unless `allowPrivate` is set:
   * a public one leads to services that trust the machine. Called for each check. Default:
   * those of the network interfaces.
   */
  readonly machineAddresses?: (() => ReadonlyArray<string>) | undefined
  /** Resolves names instead of the name servers. */
  readonly lookup?: Lookup | undefined
  /** Time limit for resolving a host. Default 5 seconds. */
  readonly lookupTimeout?: Duration.Input | undefined
  /** Addresses of a host. Default 64. */
  readonly addressesMax?: number | undefined
  /** Characters of a URL. Default 2048. */
  readonly urlLengthMax?: number | undefined
}

/** Provides a guard with these options. */
export const layerWith = (options: AddressGuardOptions = {}): Layer.Layer<AddressGuard> =>
  Layer.effect(AddressGuard, make(options))

/** Creates a guard with these options. */
export const make = Effect.fnUntraced(function*(options: AddressGuardOptions) {
  const allowPrivate = options.allowPrivate ?? false
  const rules = { allowPrivate, ports: options.ports ?? [443, 8443], lengthMax: options.urlLengthMax ?? 2048 }
  const lookup = options.lookup ??
    (allowPrivate && options.nameServers === undefined ? makeSystem() : makeDns(options.nameServers))
  const timeout = options.lookupTimeout ?? "5 seconds"
  const addressesMax = options.addressesMax ?? 64
  const machineAddresses = options.machineAddresses ?? interfaceAddresses
  const own = yield* makeOwnDomains(allowPrivate ? [] : options.ownDomains ?? [], options.ownAddresses ?? true, lookup)

  const lookUp = (host: string) =>
    isAddress(host)
      ? Effect.map(own.addresses, (ownAddresses) => ({ addresses: [host], aliases: [], ownAddresses }))
      : Effect.all(
        { addresses: lookup.addresses(host), aliases: own.aliases(host), ownAddresses: own.addresses },
        { concurrency: "unbounded" }
      ).pipe(
        Effect.timeoutOrElse({ duration: timeout, orElse: () => Effect.fail(new LookupFailed()) }),
        Effect.catchTag("LookupFailed", () => refuse("dns", "The host could not be resolved."))
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
    if (!allowPrivate) {
      const ofMachine = new Set(machineAddresses().map(canonical))
      if (addresses.some((address) => ofMachine.has(canonical(address)))) return yield* refuseOwn
    }
    return { url, addresses: [...addresses].toSorted(byFamily) }
  })

  return AddressGuard.of({ check })
})

/**
 * Returns a `lookup` for `node:net`, `node:tls` and HTTP clients, which returns the checked addresses for every name. Use it
 * for connections to the target's host only.
 */
export const lookupOf = ({ addresses }: Target): LookupFunction => (_name, _options, callback) =>
  callback(null, addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 })))

/**
 * Returns whether other networks may reach the host of a URL: it is a public address, or a name that can exist in the
 * public DNS. Resolves nothing.
 */
export const hasPublicHost = (url: URL): boolean => {
  const host = hostOf(url)
  return isAddress(host) ? classify(host) === "public" : isPublicName(host)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const refuse = (problem: AddressRefused["problem"], message: string) =>
  Effect.fail(new AddressRefused({ problem, message }))

const refuseOwn = refuse("own_domain", "The host belongs to this service. Use another host.")

/** Read for each check, because addresses come and go while the process runs. It takes less than a lookup. */
const interfaceAddresses = (): ReadonlyArray<string> =>
  Object.values(networkInterfaces()).flatMap((entries) => entries?.map(({ address }) => address) ?? [])

/** The message omits the address, because it would reveal the answers of a private DNS. */
const refusePrivate = refuse("address", "The host must have public addresses only.")

/** IPv4 first, because more networks reach it. */
const byFamily = (a: string, b: string): number => Number(a.includes(":")) - Number(b.includes(":"))
