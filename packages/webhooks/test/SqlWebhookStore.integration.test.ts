import { assert, it } from "@effect/vitest"
import { DatabaseTime, UnitOfWork } from "@kinora/persistence"
import { QueryPlan, TestDatabase } from "@kinora/testkit"
import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { DeliveryId } from "../src/Delivery.ts"
import { EndpointId } from "../src/Endpoint.ts"
import { EventId } from "../src/Event.ts"
import { at, makeWorld, settlementOf } from "../src/internal/contract/world.ts"
import * as Claims from "../src/internal/sql/claim.ts"
import { selectDue } from "../src/internal/sql/due.ts"
import { settle } from "../src/internal/sql/settlement.ts"
import { deleteDeliveries } from "../src/internal/sql/sweep.ts"
import { WebhookStore } from "../src/WebhookStore.ts"
import { over } from "./Fixture.ts"

const overPostgres = Layer.merge(over(TestDatabase.postgres), SecureRandom.layerWebCrypto)

const backlog = 10_000

/** When the tables were last analysed. */
const analysed = ["never", "while nothing was pending", "with the backlog"] as const

/** One endpoint with a long backlog and as many ended deliveries, and three others with a due delivery. */
const makeBacklog = Effect.fnUntraced(function*(when: typeof analysed[number] = "never") {
  const sql = yield* SqlClient.SqlClient
  const world = yield* makeWorld
  yield* sql`ALTER TABLE webhooks_delivery SET (autovacuum_enabled = false)`
  yield* sql`ALTER TABLE webhooks_event SET (autovacuum_enabled = false)`
  if (when === "while nothing was pending") {
    // The ended deliveries of some hundred endpoints.
    yield* sql`
      INSERT INTO webhooks_endpoint (id, account, url, status, created_at, secret_created_at, is_removed)
      SELECT gen_random_uuid(), 'a week', '', 'enabled', now(), now(), false FROM generate_series(1, 300)
    `
    yield* sql`
      INSERT INTO webhooks_delivery (id, event_id, endpoint_id, status, begun_at)
      SELECT gen_random_uuid(), gen_random_uuid(), endpoint.id, 'delivered', now()
      FROM webhooks_endpoint AS endpoint, generate_series(1, 100)
    `
    yield* sql`VACUUM ANALYZE webhooks_delivery, webhooks_endpoint`
  }
  const dead = yield* world.endpoint()
  const { deliveries, event } = yield* world.publish([dead])
  const others = yield* Effect.forEach([1, 2, 3], () => world.endpoint())
  yield* Effect.forEach(others, (other) => world.publish([other]))
  yield* sql`
    INSERT INTO webhooks_event (id, account, type, data, created_at)
    SELECT gen_random_uuid(), account, type, data, created_at
    FROM webhooks_event, generate_series(1, ${backlog}::int4)
    WHERE type = ${event.type}
  `
  yield* sql`
    INSERT INTO webhooks_delivery (id, event_id, endpoint_id, status, due_at, begun_at)
    SELECT gen_random_uuid(), event.id, ${EndpointId.toUuid(dead.endpoint.id)}, status,
      CASE WHEN status = 'pending' THEN created_at END, created_at
    FROM webhooks_event AS event, unnest(ARRAY['pending', 'delivered']) AS status
    LIMIT ${2 * backlog}
  `
  if (when === "with the backlog") yield* sql`VACUUM ANALYZE webhooks_delivery, webhooks_endpoint, webhooks_event`
  return { dead, others, deliveries }
})

it.effect.each(analysed)(
  "finds due endpoints without reading the backlog of an endpoint, analysed %s",
  (analysed) =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const store = yield* WebhookStore
      const { dead, others } = yield* makeBacklog(analysed)
      const due = yield* store.due(at(1), 100)
      assert.sameMembers(
        due.endpoints.map(({ endpoint }) => endpoint),
        [dead, ...others].map(({ endpoint: { id } }) => id)
      )
      const steps = yield* QueryPlan.explain(selectDue(sql, yield* DatabaseTime.hostClock, at(1), 100, undefined))
      assertReadsAtMost(steps, 5)
      assert.include(steps.map(({ index }) => index), "webhooks_delivery_due")
    }).pipe(Effect.provide(overPostgres))
)

it.effect.each(analysed)(
  "claims without reading further backlog or ended deliveries, analysed %s",
  (analysed) =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { dead, others } = yield* makeBacklog(analysed)
      const demands = [dead, ...others].map(({ endpoint }) => ({ endpoint: endpoint.id, limit: 10 }))
      const steps = yield* QueryPlan.explain(
        Claims.claim(
          sql,
          yield* DatabaseTime.hostClock,
          { demands, now: at(1), until: at(31), bytesMax: 1_000_000 },
          sql`TRUE`
        )
      )
      assertReadsAtMost(steps, 13)
      assert.include(steps.map(({ index }) => index), "webhooks_delivery_due")
    }).pipe(Effect.provide(overPostgres))
)

it.effect("freezes, settles and releases without reading other rows", () =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const store = yield* WebhookStore
    const { dead } = yield* makeBacklog()
    const claimed = yield* store.claim([{ endpoint: dead.endpoint.id, limit: 20 }], at(1), at(31))
    const bodies = claimed.slice(0, 10).map(({ delivery }) => ({ delivery, body: new Uint8Array(100) }))
    const settlements = claimed.slice(0, 10).map((one) => settlementOf(one, { _tag: "Delivered" }))
    const clock = yield* DatabaseTime.hostClock
    // Ten rows each, and their older versions in the indexes.
    assertReadsAtMost(yield* QueryPlan.explain(Claims.freeze(sql, bodies)), 50)
    assertReadsAtMost(yield* QueryPlan.explain(settle(sql, clock, settlements)), 50)
    assertReadsAtMost(yield* QueryPlan.explain(Claims.release(sql, clock, claimed.slice(10), at(1))), 50)
  }).pipe(Effect.provide(overPostgres)))

it.effect("sweeps the rows of a removed endpoint without reading those of others", () =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const store = yield* WebhookStore
    const { others: [first] } = yield* makeBacklog()
    yield* store.removeEndpoint(first!.endpoint.id)
    // One delivery, and a few rows of endpoints and ended deliveries.
    assertReadsAtMost(yield* QueryPlan.explain(deleteDeliveries(sql, yield* DatabaseTime.hostClock, at(0), 100)), 5)
  }).pipe(Effect.provide(overPostgres)))

it.effect("claims intact deliveries beside corrupt ones, which are released, and ones without their event, which fail", () =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const store = yield* WebhookStore
    const world = yield* makeWorld
    const endpoint = yield* world.endpoint()
    const damaged = yield* world.endpoint()
    const first = yield* world.publish([endpoint])
    const lost = yield* world.publish([endpoint])
    const second = yield* world.publish([endpoint, damaged])
    yield* sql`UPDATE webhooks_event SET created_at = 'infinity' WHERE id = ${EventId.toUuid(first.event.id)}`
    yield* sql`DELETE FROM webhooks_event WHERE id = ${EventId.toUuid(lost.event.id)}`
    yield* sql`UPDATE webhooks_secret SET created_at = 'infinity' WHERE endpoint_id = ${
      EndpointId.toUuid(damaged.endpoint.id)
    }`
    const demands = [endpoint, damaged].map(({ endpoint }) => ({ endpoint: endpoint.id, limit: 9 }))
    const claim = (now: number) =>
      Effect.map(
        store.claim(demands, at(now), at(now + 30)),
        (claimed) => claimed.map(({ attempt, delivery }) => ({ attempt, delivery }))
      )
    const whole = { attempt: 1, delivery: second.deliveries[0]! }
    assert.deepStrictEqual(yield* claim(1), [whole])
    yield* sql`UPDATE webhooks_event SET created_at = now() WHERE id = ${EventId.toUuid(first.event.id)}`
    assert.deepStrictEqual(yield* claim(30), [])
    assert.sameDeepMembers(yield* claim(31), [{ ...whole, attempt: 2 }, {
      attempt: 1,
      delivery: first.deliveries[0]!
    }])
    const [row] = yield* sql`
      SELECT status, failed_sends FROM webhooks_delivery WHERE id = ${DeliveryId.toUuid(lost.deliveries[0]!)}
    `
    assert.deepStrictEqual(row, { status: "failed", failed_sends: 0 })
  }).pipe(Effect.provide(overPostgres)))

it.effect("claims intact deliveries although corrupt ones cannot be released, unless the claim is part of a unit", () =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const store = yield* WebhookStore
    const { atomically } = yield* UnitOfWork.UnitOfWork
    const world = yield* makeWorld
    const endpoint = yield* world.endpoint()
    const corrupt = yield* world.publish([endpoint])
    const { deliveries: [intact] } = yield* world.publish([endpoint])
    yield* sql`UPDATE webhooks_event SET created_at = 'infinity' WHERE id = ${EventId.toUuid(corrupt.event.id)}`
    yield* sql`ALTER TABLE webhooks_delivery ADD CONSTRAINT no_release CHECK (claims_void = 0)`
    const claim = (now: number) =>
      Effect.map(
        store.claim([{ endpoint: endpoint.endpoint.id, limit: 9 }], at(now), at(now + 30)),
        (claimed) => claimed.map(({ attempt, delivery }) => ({ attempt, delivery }))
      )
    assert.deepStrictEqual(yield* claim(1), [{ attempt: 1, delivery: intact! }])
    assert.deepInclude(yield* Effect.flip(atomically(claim(31))), { operation: "WebhookStore.claim", reason: "failed" })
    assert.deepStrictEqual(yield* claim(31), [{ attempt: 2, delivery: intact! }])
  }).pipe(Effect.provide(overPostgres)))

it.effect("deletes every event with its last delivery when several processes sweep concurrently", () =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const store = yield* WebhookStore
    const world = yield* makeWorld
    const endpoints = yield* Effect.forEach([1, 2, 3], () => world.endpoint())
    yield* Effect.forEach(Array.from({ length: 60 }), () => world.publish(endpoints))
    yield* store.expire(at(1), at(1), 1_000)
    // An odd limit, so that the deliveries of an event fall into different sweeps.
    const swept = yield* Effect.forEach(Array.from({ length: 40 }), () => store.sweep(at(1), 7), { concurrency: 8 })
    assert.strictEqual(swept.reduce((sum, count) => sum + count, 0), 180)
    assert.deepStrictEqual(yield* sql`SELECT id FROM webhooks_event`, [])
  }).pipe(Effect.provide(overPostgres)))

it.effect("never claims a delivery that was published while its endpoint was removed, and deletes it by its age", () =>
  Effect.gen(function*() {
    const store = yield* WebhookStore
    const world = yield* makeWorld
    const endpoint = yield* world.endpoint()
    yield* store.removeEndpoint(endpoint.endpoint.id)
    yield* store.sweep(at(0), 10)
    yield* world.publish([endpoint])
    const beside = yield* world.endpoint()
    yield* world.publish([beside])
    assert.deepStrictEqual((yield* store.due(at(1), 10)).endpoints.map(({ endpoint }) => endpoint), [
      beside.endpoint.id
    ])
    assert.deepStrictEqual(yield* store.claim([{ endpoint: endpoint.endpoint.id, limit: 1 }], at(1), at(31)), [])
    assert.strictEqual(yield* store.expire(at(1), at(1), 10), 2)
    assert.strictEqual(yield* store.sweep(at(1), 10), 2)
  }).pipe(Effect.provide(overPostgres)))

it.effect("workers, sweeps and publishers use the same rows concurrently without a conflict", () =>
  Effect.gen(function*() {
    const store = yield* WebhookStore
    const { atomically } = yield* UnitOfWork.UnitOfWork
    const world = yield* makeWorld
    const endpoints = yield* Effect.forEach([1, 2, 3, 4], () => world.endpoint())
    const demands = endpoints.map(({ endpoint }) => ({ endpoint: endpoint.id, limit: 5 }))
    let delivered = 0
    const work = (n: number) =>
      Effect.gen(function*() {
        const claimed = yield* Effect.tap(
          store.claim(n % 2 === 0 ? demands : demands.toReversed(), at(n), at(n + 1)),
          (claimed) => store.freeze(claimed.map(({ delivery }) => ({ delivery, body: new Uint8Array([n]) })))
        ).pipe(atomically)
        const settled = yield* store.settle(
          claimed.toReversed().map((one, index) =>
            settlementOf(one, index % 3 === 0 ? { _tag: "Again", dueAt: at(n) } : { _tag: "Delivered" }, at(n))
          )
        )
        yield* store.release(claimed, at(n))
        delivered += settled.length
      })
    const publish = (n: number) => world.publish(n % 2 === 0 ? endpoints : endpoints.toReversed(), at(n))
    const sweep = (n: number) =>
      Effect.andThen(
        store.expire(at(n - 20), at(n), 5),
        Effect.andThen(store.sweep(at(n - 10), 7), store.trimSends(3, 20))
      )
    const turns = [publish, work, work, work, sweep]
    // A conflict fails here, because only units of work run again after one.
    yield* Effect.forEach(Array.from({ length: 400 }), (_, n) => turns[n % 5]!(n), { concurrency: 12 })
    assert.isAbove(delivered, 100)
  }).pipe(Effect.provide(overPostgres)))

const assertReadsAtMost = (steps: ReadonlyArray<QueryPlan.Step>, rowsMax: number) => {
  for (const { index, rows, table, type } of steps) {
    // A table of a few pages is read without an index.
    if (table !== "webhooks_endpoint") assert.isAtMost(rows, rowsMax, `${type} on ${index}`)
  }
}
