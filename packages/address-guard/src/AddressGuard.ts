/**
 * Protection against server-side request forgery: rejects URLs that lead to private networks,
 * to this machine or to the service's own domains.
 */
import { Context, type Duration, Effect, Layer, Result, Schema } from "effect"
import { isIPv6, type LookupFunction } from "node:net"
import { networkInterfaces } from "node:os"
import * as AllowedNetworks from "./internal/AllowedNetworks.ts"
import { hostOf, isPublicName, parse, type UrlRules } from "./internal/GuardedUrl.ts"
import { ifTraced } from "./internal/ifTraced.ts"
import { type Lookup, LookupFailed, makeDns, makeSystem } from "./internal/Lookup.ts"
import { makeOwnDomains } from "./internal/OwnDomains.ts"
import { canonical, classify, isAddress, isLoopback } from "./internal/PublicAddress.ts"

export { isNetwork } from "./internal/AllowedNetworks.ts"
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
  /**
   * Networks that are allowed although they are not public, such as `10.20.0.0/16`, `fd00:20::/32` or one address. A host
   * all of whose addresses are in these networks may have any name that DNS resolves, use `http` and every port. Own domains
   * stay rejected, and so do addresses of this machine unless they are listed by themselves. Default none.
   */
  readonly allowedNetworks?: ReadonlyArray<string> | undefined
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

/** Creates a guard with these options. Dies with a `TypeError` if one of `allowedNetworks` is not a network. */
export const make = Effect.fnUntraced(function*(options: AddressGuardOptions) {
  const allowPrivate = options.allowPrivate ?? false
  const rules = { allowPrivate, ports: options.ports ?? [443, 8443], lengthMax: options.urlLengthMax ?? 2048 }
  const lookup = options.lookup ??
    (allowPrivate && options.nameServers === undefined ? makeSystem() : makeDns(options.nameServers))
  const timeout = options.lookupTimeout ?? "5 seconds"
  const addressesMax = options.addressesMax ?? 64
  const machineAddresses = options.machineAddresses ?? interfaceAddresses
  const allowed = yield* Effect.sync(() => AllowedNetworks.make(options.allowedNetworks ?? []))
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

  const checkAddresses = Effect.fnUntraced(function*({ addresses, aliases, ownAddresses }: Found) {
    if (addresses.length === 0) return yield* refuse("dns", "The host has no address.")
    if (addresses.length > addressesMax) return yield* refuse("address", "The host has too many addresses.")
    const ownAlike = new Set([...ownAddresses].map(canonical))
    if (aliases.some(own.covers) || addresses.some((address) => ownAlike.has(canonical(address)))) {
      return yield* refuseOwn
    }
    if (allowPrivate) return
    if (!addresses.every((address) => classify(address) === "public" || allowed.contains(address))) {
      return yield* refusePrivate
    }
    const ofMachine = new Set(machineAddresses().map(canonical))
    const leadsBack = (address: string) => ofMachine.has(canonical(address)) || isLoopback(address)
    if (addresses.some((address) => leadsBack(address) && !allowed.lists(address))) return yield* refuseOwn
  })

  const check = Effect.fnUntraced(function*(input: string) {
    const { exception, url } = yield* Effect.fromResult(parseUrl(input, rules, !allowed.isEmpty))
    const host = hostOf(url)
    if (own.covers(host)) return yield* refuseOwn
    if (exception === undefined) {
      const found = yield* lookUp(host)
      yield* checkAddresses(found)
      return { url, addresses: found.addresses.toSorted(byFamily) }
    }
    if (allowed.isEmpty) return yield* exception
    // Every failure returns the same error, so that it does not reveal which private names exist.
    const found = yield* Effect.catch(lookUp(host), () => Effect.fail(exception))
    if (found.addresses.length === 0 || !found.addresses.every(allowed.contains)) return yield* exception
    yield* checkAddresses(found)
    return { url, addresses: found.addresses.toSorted(byFamily) }
  }, ifTraced(Effect.withSpan("AddressGuard.check", {}, { captureStackTrace: false })))

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

/** A URL. `exception` is why it is refused unless all addresses of its host are in allowed networks. */
interface ParsedUrl {
  readonly url: URL
  readonly exception: AddressRefused | undefined
}

/** The addresses of a host, its aliases, and the addresses of own domains. */
interface Found {
  readonly addresses: ReadonlyArray<string>
  readonly aliases: ReadonlyArray<string>
  readonly ownAddresses: ReadonlySet<string>
}

/** Parses a URL. With exceptions, its scheme, its port and a private name are decided on by its addresses. */
const parseUrl = (
  input: string,
  rules: UrlRules,
  hasExceptions: boolean
): Result.Result<ParsedUrl, AddressRefused> => {
  const strict = Result.mapError(parse(input, rules), (broken) => new AddressRefused(broken))
  if (Result.isSuccess(strict)) {
    const host = hostOf(strict.success)
    const isUsual = rules.allowPrivate || isAddress(host) || isPublicName(host)
    return Result.succeed({ url: strict.success, exception: isUsual ? undefined : privateRefused() })
  }
  const lenient = parse(input, { ...rules, allowPrivate: hasExceptions || rules.allowPrivate })
  return Result.isFailure(lenient)
    ? Result.fail(strict.failure)
    : Result.succeed({ url: lenient.success, exception: strict.failure })
}

const refuse = (problem: AddressRefused["problem"], message: string) =>
  Effect.fail(new AddressRefused({ problem, message }))

const refuseOwn = refuse("own_domain", "The host belongs to this service. Use another host.")

/** Read for each check, because addresses come and go while the process runs. It takes less than a lookup. */
const interfaceAddresses = (): ReadonlyArray<string> =>
  Object.values(networkInterfaces()).flatMap((entries) => entries?.map(({ address }) => address) ?? [])

/** The message omits the address, because it would reveal the responses of a private DNS. */
const privateRefused = () =>
  new AddressRefused({ problem: "address", message: "The host must have public addresses only." })

const refusePrivate = Effect.suspend(() => Effect.fail(privateRefused()))

/** IPv4 first, because more networks reach it. */
const byFamily = (a: string, b: string): number => Number(a.includes(":")) - Number(b.includes(":"))
