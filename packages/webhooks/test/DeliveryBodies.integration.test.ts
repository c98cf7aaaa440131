import { assert, layer } from "@effect/vitest"
import { Pipelining } from "@kinora/persistence"
import { TestDatabase, TestTime } from "@kinora/testkit"
import { Effect, Layer, Queue } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import * as Wakeup from "../src/Wakeup.ts"
import { suite } from "./DeliveryBodiesContract.ts"
import { over } from "./Fixture.ts"
import { makeWorld } from "./SendingWorld.ts"

/** A client of which the bodies of first sends go with the commit of the claim. */
const pipelined = ["Postgres, pipelined", TestDatabase.postgresWith(Pipelining.over)] as const

for (const [name, database] of [...TestDatabase.all, pipelined]) {
  const backend = Layer.mergeAll(over(database), Wakeup.layer, SecureRandom.layerWebCrypto)
  suite(name, backend)

  layer(backend)(`A body that cannot be stored (${name})`, (it) => {
    it.effect("undoes the claim, so nothing is sent and no attempt is used up", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const world = yield* makeWorld
        const endpoint = yield* world.endpoint()
        yield* sql`ALTER TABLE webhooks_delivery ADD CONSTRAINT no_body CHECK (body IS NULL)`
        const id = yield* world.publish(endpoint)
        yield* world.start({ complete: ({ data }) => Effect.succeed(data) })
        // The set, then the endpoint by itself, which rests for a minute.
        while (world.count.freeze < 2) yield* Effect.yieldNow
        assert.strictEqual(yield* Queue.size(world.calls), 0)
        // Waits for the rollback.
        yield* sql`ALTER TABLE webhooks_delivery DROP CONSTRAINT no_body`
        yield* TestTime.advance("1 minute")
        assert.deepInclude(yield* world.call, { delivery: id, at: 60_000 })
        assert.strictEqual((yield* world.settled).send?.attempt, 1)
      }))
  })
}
