/**
 * DNS resolution of hosts.
 *
 * `dns.lookup` calls `getaddrinfo` on the thread pool that file access uses too. The pool has
 * four threads, so a dead name server would block the process. This module uses c-ares, which
 * works over sockets. It reads the system's name servers but not its hosts file.
 */
import { Effect, Schema } from "effect"
import { lookup as lookUpBySystem, Resolver } from "node:dns/promises"

/** The host could not be resolved. */
export class LookupFailed extends Schema.TaggedError<LookupFailed>("@kinora/address-guard/LookupFailed")(
  "LookupFailed",
  {}
) {}

/** Resolves names without a cache. Names are lower-case ASCII without a trailing dot. */
export interface Lookup {
  /** Returns the IPv4 and IPv6 addresses, or none if the name has none. Fails unless both families were resolved. */
  readonly addresses: (name: string) => Effect.Effect<ReadonlyArray<string>, LookupFailed>
  /** Returns the chain of CNAME targets in order. */
  readonly aliases: (name: string) => Effect.Effect<ReadonlyArray<string>, LookupFailed>
}

/** Creates a lookup that queries these name servers, by default those of the system. */
export const makeDns = (nameServers: ReadonlyArray<string> | undefined): Lookup => {
  const resolver = new Resolver({ timeout: tryMillis, tries })
  if (nameServers !== undefined) resolver.setServers(nameServers)
  const a = makeQuery((name) => resolver.resolve4(name))
  const aaaa = makeQuery((name) => resolver.resolve6(name))
  const cname = makeQuery((name) => resolver.resolveCname(name))

  return {
    addresses: (name) =>
      Effect.map(Effect.all([a(name), aaaa(name)], { concurrency: 2 }), (families) => families.flat()),
    aliases: Effect.fnUntraced(function*(name) {
      const chain: Array<string> = []
      let [next] = yield* cname(name)
      while (next !== undefined) {
        if (chain.length === aliasesMax) return yield* new LookupFailed()
        chain.push(next.toLowerCase())
        const [after] = yield* cname(next)
        next = after
      }
      return chain
    })
  }
}

/** Creates a lookup that uses the system resolver, including the hosts file. For development. */
export const makeSystem = (): Lookup => ({
  addresses: makeQuery((name) =>
    lookUpBySystem(name, { all: true }).then((found) => found.map(({ address }) => address))
  ),
  aliases: () => Effect.succeed([])
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Timeout of the first query to a name server. Later tries take longer. */
const tryMillis = 1_500
/** Queries to each name server. */
const tries = 2
/** Longest chain of CNAME records. Resolvers follow about as many. */
const aliasesMax = 8

/** Concurrent queries for the same name share one response. Responses are not cached. */
const makeQuery = (ask: (name: string) => Promise<ReadonlyArray<string>>) => {
  const inFlight = new Map<string, Promise<ReadonlyArray<string>>>()
  const askOnce = (name: string) => {
    const answer = inFlight.get(name) ?? ask(name).catch(absentIsNone).finally(() => inFlight.delete(name))
    inFlight.set(name, answer)
    return answer
  }
  return (name: string): Effect.Effect<ReadonlyArray<string>, LookupFailed> =>
    Effect.tryPromise({ try: () => askOnce(name), catch: () => new LookupFailed() })
}

/** Turns "no such record" and "no such name" into an empty response. */
const absentIsNone = (error: NodeJS.ErrnoException): ReadonlyArray<never> => {
  if (error.code === "ENODATA" || error.code === "ENOTFOUND") return []
  throw error
}
