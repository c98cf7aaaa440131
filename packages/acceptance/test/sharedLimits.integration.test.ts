/** Limits of requests over several servers, which take requests in advance. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Books from "../src/Books.ts"
import * as Client from "../src/Client.ts"
import * as Program from "../src/Program.ts"
import { makeSite } from "./sites.ts"

it.live(
  "servers that take requests in advance accept as many per minute as the limit of a key",
  () =>
    Effect.gen(function*() {
      const site = yield* makeSite("Postgres")
      const environment = { ...site.environment, KINORA_WORKERS: "0" }
      const servers = [yield* Program.startServer(environment), yield* Program.startServer(environment)] as const
      const { keys } = yield* Books.use(site, Books.openAccount({ credits: 1, keys: 5 }))
      for (const key of keys) {
        const { accepted, acceptedLater, isAdvanced, isUndisturbed, limit } = yield* useUp(servers, key)
        if (!isUndisturbed) continue
        assert.deepStrictEqual([isAdvanced, accepted, acceptedLater], [true, limit, 0])
        return
      }
      assert.fail("Every run was disturbed: a minute ended, or a server was unavailable")
    }),
  { timeout: 600_000 }
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Servers = readonly [Program.Server, Program.Server]

/** Sends requests with a key until no server accepts any, and some more when what they took in advance is given back. */
const useUp = Effect.fnUntraced(function*(servers: Servers, key: string) {
  const resets = new Set<string | null>()
  let [accepted, limit, isAvailable] = [0, 0, true]
  /** Sends a request. Returns what is left of the limit, or `undefined` if it is rejected. */
  const send = Effect.fnUntraced(function*({ baseUrl }: Program.Server) {
    const { headers, status } = yield* Client.make(baseUrl, key).request("/v1/models")
    assert.include([200, 429, 503], status)
    // It can have been counted.
    if (status === 503) isAvailable = false
    resets.add(headers.get("x-ratelimit-reset"))
    if (status !== 200) return undefined
    accepted++
    limit = Number(headers.get("x-ratelimit-limit"))
    return Number(headers.get("x-ratelimit-remaining"))
  })

  const burst = Effect.gen(function*() {
    for (let n = 0; n < 3; n++) yield* send(servers[0])
    const remaining = yield* send(servers[1])
    // The other server counts what the first one has taken in advance as used.
    return remaining !== undefined && remaining < limit - accepted
  })
  const isAdvanced = yield* Effect.repeat(burst, { until: Boolean, times: 36 })

  const round = Effect.forEach([...servers, ...servers, ...servers, ...servers], send, { concurrency: 8 })
  yield* Effect.repeat(round, { until: (left) => left.every((remaining) => remaining === undefined) })
  const acceptedFirst = accepted
  // Longer than a server keeps what it took in advance.
  yield* Effect.delay(round, "500 millis")
  return {
    accepted: acceptedFirst,
    acceptedLater: accepted - acceptedFirst,
    isAdvanced,
    limit,
    // A minute that ends meanwhile begins another counter.
    isUndisturbed: isAvailable && resets.size === 1
  }
})
