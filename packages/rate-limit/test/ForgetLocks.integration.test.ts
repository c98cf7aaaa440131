/** Leases that are renewed while others are forgotten. */
import { assert, layer } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence"
import { TestDatabase } from "@kinora/testkit"
import { Duration, Effect, Fiber, Latch, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { RateLimitStore } from "../src/RateLimitStore.ts"
import { over } from "./Backend.ts"

layer(Layer.merge(over(TestDatabase.postgres), SecureRandom.layerWebCrypto))("A renewal of leases", (it) => {
  it.effect("locks them in the order in which they are forgotten", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const store = yield* RateLimitStore
      const { atomically } = yield* UnitOfWork.UnitOfWork
      const random = yield* SecureRandom.SecureRandom
      const lasts = Duration.minutes(1)
      const places = [yield* random.uuidV7(), yield* random.uuidV7()].toSorted().map((id) => ({ id, key: "ada" }))
      yield* store.acquire(places.map((place) => ({ ...place, max: 2, lasts })))
      const lock = (id: string) => sql`SELECT FROM rate_limit_place WHERE id = ${id} FOR UPDATE NOWAIT`
      const [isLocked, isWaiting] = [yield* Latch.make(), yield* Latch.make()]
      const forgetting = yield* lock(places[0]!.id).pipe(
        Effect.andThen(isLocked.open),
        Effect.andThen(isWaiting.await),
        Effect.andThen(lock(places[1]!.id)),
        Effect.andThen(store.forget("place", "ada", 100)),
        atomically,
        Effect.forkChild
      )
      yield* isLocked.await
      // A place that was taken in a transaction is held after later ones.
      const renewing = yield* Effect.forkChild(store.renew(places.toReversed(), lasts), { startImmediately: true })
      yield* Effect.repeat(
        sql`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        { until: (rows) => rows.length > 0 }
      )
      yield* isWaiting.open
      assert.strictEqual(yield* Fiber.join(forgetting), 2)
      yield* Fiber.join(renewing)
      assert.strictEqual(yield* store.held("ada"), 2)
    }).pipe(TestClock.withLive))
})
