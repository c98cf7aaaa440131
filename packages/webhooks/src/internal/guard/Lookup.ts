/**
 * What hosts resolve to, asked of name servers.
 *
 * `getaddrinfo`, which `dns.lookup` calls, waits in a thread of the pool that files need
 * too, and there are four: a name server that is dead would stop the process. So the
 * questions go out by c-ares, over sockets. It reads the system's name servers but not
 * its hosts file, so names that only this machine knows have no address.
 */
import { Effect, Schema } from "effect"
import { lookup as lookUpBySystem, Resolver } from "node:dns/promises"

/** It cannot be told now what the host resolves to. */
export class LookupFailed extends Schema.TaggedError<LookupFailed>("@kinora/webhooks/LookupFailed")(
  "LookupFailed",
  {}
) {}

/** Looks names up, always anew. Names are in lower case, in ASCII, and have no dot at the end. */
export interface Lookup {
  /** Addresses of both families; none: the name has none. Fails unless both are known. */
  readonly addresses: (name: string) => Effect.Effect<ReadonlyArray<string>, LookupFailed>
  /** The names that it stands for (CNAME), one after the other. */
  readonly aliases: (name: string) => Effect.Effect<ReadonlyArray<string>, LookupFailed>
}

/** Asks these name servers, by default the system's. */
export const makeDns = (nameServers: ReadonlyArray<string> | undefined): Lookup => {
  const resolver = new Resolver({ timeout: tryMillis, tries })
  if (nameServers !== undefined) resolver.setServers(nameServers)
  const a = makeQuestion((name) => resolver.resolve4(name))
  const aaaa = makeQuestion((name) => resolver.resolve6(name))
  const cname = makeQuestion((name) => resolver.resolveCname(name))

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

/** Asks as every program of this machine does, hosts file included: for development. */
export const makeSystem = (): Lookup => ({
  addresses: makeQuestion((name) =>
    lookUpBySystem(name, { all: true }).then((found) => found.map(({ address }) => address))
  ),
  aliases: () => Effect.succeed([])
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** How long a name server has for an answer the first time; each further try takes longer. */
const tryMillis = 1_500
/** How often each is asked. */
const tries = 2
/** Names that stand for one another; resolvers follow about as many. */
const aliasesMax = 8

/** Those who ask the same at the same moment share the answer; nobody gets an older one. */
const makeQuestion = (ask: (name: string) => Promise<ReadonlyArray<string>>) => {
  const underWay = new Map<string, Promise<ReadonlyArray<string>>>()
  const askOnce = (name: string) => {
    const answer = underWay.get(name) ?? ask(name).catch(absentIsNone).finally(() => underWay.delete(name))
    underWay.set(name, answer)
    return answer
  }
  return (name: string): Effect.Effect<ReadonlyArray<string>, LookupFailed> =>
    Effect.tryPromise({ try: () => askOnce(name), catch: () => new LookupFailed() })
}

/** What name servers answer when there is nothing: no such record, no such name. */
const absentIsNone = (error: NodeJS.ErrnoException): ReadonlyArray<never> => {
  if (error.code === "ENODATA" || error.code === "ENOTFOUND") return []
  throw error
}
