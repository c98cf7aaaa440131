/** Statements and round trips of a worker's operations. */
import { assert, it } from "@effect/vitest"
import { Pipelining } from "@kinora/persistence"
import { RoundTrips } from "@kinora/testkit"
import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { at, makeWorld, settlementOf } from "../src/internal/contract/world.ts"
import * as Claims from "../src/internal/worker/Claims.ts"
import { WebhookStore } from "../src/WebhookStore.ts"
import { over } from "./Fixture.ts"

/** `BEGIN` and `COMMIT` included. A statement without a transaction releases its locks by itself. */
const bounds = {
  publish: { statements: 1, roundTrips: 1, writesAfterLock: 0, writesAfterRead: 0 },
  claim: { statements: 1, roundTrips: 1, writesAfterLock: 0, writesAfterRead: 0 },
  // The unit stores the bodies.
  claimWithBodies: { statements: 4, roundTrips: 4, writesAfterLock: 2, writesAfterRead: 2 },
  settle: { statements: 1, roundTrips: 1, writesAfterLock: 0, writesAfterRead: 0 }
}

const clients = [
  ["", RoundTrips.make, bounds],
  // The claim goes with BEGIN, and the bodies with the commit.
  [" of a client that pipelines", RoundTrips.makeWith(Pipelining.over), {
    ...bounds,
    claimWithBodies: { statements: 4, roundTrips: 2, writesAfterLock: 1, writesAfterRead: 1 }
  }]
] as const

it.live.each(clients)(
  "operations of workers%s send no more statements than these, and wait for no more responses",
  ([, make, bounds]) =>
    Effect.gen(function*() {
      const { costOf, database } = yield* make
      const costs = yield* Effect.gen(function*() {
        const store = yield* WebhookStore
        const world = yield* makeWorld
        const endpoint = yield* world.endpoint()
        const demands = [{ endpoint: endpoint.endpoint.id, limit: 1 }]
        // Deliveries are due at 0. A host and Postgres measure that a while apart, so a claim at the same time could be early.
        const times = { until: at(1_060), restedAt: at(1_060) }
        const claimWith = (options: Claims.BodyOptions) =>
          Effect.flatMap(
            Claims.make(options),
            (claim) =>
              costOf(Effect.map(claim(demands, at(1_000), times), ({ taken }) => {
                assert.strictEqual(taken.length, 1)
              }))
          )
        const publish = yield* costOf(world.publish([endpoint]))
        yield* world.publish([endpoint])
        yield* world.publish([endpoint])
        const claim = yield* claimWith({})
        const claimWithBodies = yield* claimWith({ complete: ({ data }) => Effect.succeed(data) })
        const claimed = yield* store.claim(demands, at(1_000), at(1_060))
        const settle = yield* costOf(store.settle(claimed.map((one) => settlementOf(one, { _tag: "Delivered" }))))
        return { publish, claim, claimWithBodies, settle }
      }).pipe(Effect.provide(Layer.merge(over(database), SecureRandom.layerWebCrypto)))
      assert.deepStrictEqual(costs, bounds)
    }).pipe(Effect.scoped)
)
