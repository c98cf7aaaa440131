/** Accounts that are forgotten while other units hold locks. */
import { assert, layer } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence"
import { TestDatabase } from "@kinora/testkit"
import { Effect, Fiber, Latch, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { DeliveryId } from "../src/Delivery.ts"
import { EventId } from "../src/Event.ts"
import { at, makeWorld } from "../src/internal/contract/world.ts"
import { WebhookStore } from "../src/WebhookStore.ts"
import { over } from "./Fixture.ts"

layer(Layer.merge(over(TestDatabase.postgres), SecureRandom.layerWebCrypto))("Forgetting an account", (it) => {
  it.effect("locks the deliveries of all endpoints in the order of a settlement", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const store = yield* WebhookStore
      const { atomically } = yield* UnitOfWork.UnitOfWork
      const { account, endpoint } = yield* makeWorld
      const endpoints = [yield* endpoint(), yield* endpoint()].map(({ endpoint }) => endpoint.id).toSorted()
      const ids = [yield* DeliveryId.make, yield* DeliveryId.make].toSorted()
      const event = { id: yield* EventId.make, account, type: "order.paid", data: {}, createdAt: at(0) }
      // The first delivery is of the last endpoint.
      const deliveries = ids.map((id, n) => ({ id, event: event.id, endpoint: endpoints[1 - n]! }))
      yield* store.publish([event], deliveries)
      const lock = (id: DeliveryId) =>
        sql`SELECT FROM webhooks_delivery WHERE id = ${DeliveryId.toUuid(id)} FOR UPDATE NOWAIT`
      const [isLocked, isWaiting] = [yield* Latch.make(), yield* Latch.make()]
      const settling = yield* lock(ids[0]!).pipe(
        Effect.andThen(isLocked.open),
        Effect.andThen(isWaiting.await),
        Effect.andThen(lock(ids[1]!)),
        atomically,
        Effect.forkChild
      )
      yield* isLocked.await
      const forgetting = yield* Effect.forkChild(store.forget(account, 100), { startImmediately: true })
      yield* Effect.repeat(
        sql`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        { until: (rows) => rows.length > 0 }
      )
      yield* isWaiting.open
      assert.strictEqual((yield* Fiber.join(settling)).length, 1)
      assert.strictEqual(yield* Fiber.join(forgetting), 4)
    }).pipe(TestClock.withLive))
})
