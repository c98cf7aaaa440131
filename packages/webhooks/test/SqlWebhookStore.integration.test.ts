import { assert, it } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence"
import { TestDatabase } from "@kinora/testkit"
import { Effect, Layer, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, type Statement } from "effect/sql"
import { EndpointId } from "../src/Endpoint.ts"
import * as Statements from "../src/internal/statements.ts"
import * as Sweeping from "../src/internal/sweeping.ts"
import { WebhookStore } from "../src/WebhookStore.ts"
import { at, makeWorld, over, settlementOf } from "./Fixture.ts"

const overPostgres = Layer.merge(over(TestDatabase.postgres), SecureRandom.layerWebCrypto)

const backlog = 10_000

/** One endpoint with a long backlog, beside as much that is over, and three others with something due. */
const makeBacklog = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const world = yield* makeWorld
  // Nobody analyses the tables: the planner's worst day.
  yield* sql`ALTER TABLE webhooks_delivery SET (autovacuum_enabled = false)`
  yield* sql`ALTER TABLE webhooks_event SET (autovacuum_enabled = false)`
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
  return { dead, others, deliveries }
})

it.effect("finds what is due without reading the backlog of an endpoint", () =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const store = yield* WebhookStore
    const { dead, others } = yield* makeBacklog
    const due = yield* store.due(at(1), 100)
    assert.sameMembers(
      due.endpoints.map(({ endpoint }) => endpoint),
      [dead, ...others].map(({ endpoint: { id } }) => id)
    )
    const nodes = yield* explain(Statements.due(sql, at(1), 100, undefined))
    assertReadsAtMost(nodes, 5)
    assert.include(nodes.map((node) => node["Index Name"]), "webhooks_delivery_due")
  }).pipe(Effect.provide(overPostgres)))

it.effect("claims without reading the backlog behind what it claims, or anything that is over", () =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const { dead, others } = yield* makeBacklog
    const demands = [dead, ...others].map(({ endpoint }) => ({ endpoint: endpoint.id, limit: 10 }))
    const nodes = yield* explain(Statements.claim(sql, demands, at(1), at(31)))
    assertReadsAtMost(nodes, 13)
    assert.include(nodes.map((node) => node["Index Name"]), "webhooks_delivery_due")
  }).pipe(Effect.provide(overPostgres)))

it.effect("freezes, settles and gives back without reading more than it was told", () =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const store = yield* WebhookStore
    const { dead } = yield* makeBacklog
    const claimed = yield* store.claim([{ endpoint: dead.endpoint.id, limit: 20 }], at(1), at(31))
    const bodies = claimed.slice(0, 10).map(({ delivery }) => ({ delivery, body: new Uint8Array(100) }))
    const settlements = claimed.slice(0, 10).map((one) => settlementOf(one, { _tag: "Delivered" }))
    // Ten each; their older versions are in the indexes too.
    assertReadsAtMost(yield* explain(Statements.freeze(sql, bodies)), 50)
    assertReadsAtMost(yield* explain(Statements.settle(sql, settlements)), 50)
    assertReadsAtMost(yield* explain(Statements.release(sql, claimed.slice(10), at(1))), 50)
  }).pipe(Effect.provide(overPostgres)))

it.effect("sweeps what is left of a removed endpoint without reading what is left of others", () =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const store = yield* WebhookStore
    const { others: [first] } = yield* makeBacklog
    yield* store.removeEndpoint(first!.endpoint.id)
    // Its one delivery; the tables of endpoints and of ended deliveries have a few more to look at.
    assertReadsAtMost(yield* explain(Sweeping.deleteDeliveries(sql, at(0), 100)), 5)
  }).pipe(Effect.provide(overPostgres)))

it.effect("loses no event and keeps none for ever when several processes sweep at the same time", () =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const store = yield* WebhookStore
    const world = yield* makeWorld
    const endpoints = yield* Effect.forEach([1, 2, 3], () => world.endpoint())
    yield* Effect.forEach(Array.from({ length: 60 }), () => world.publish(endpoints))
    yield* store.expire(at(1), 1_000)
    // Sets of odd sizes, so that the deliveries of an event fall into different ones.
    const swept = yield* Effect.forEach(Array.from({ length: 40 }), () => store.sweep(at(1), 7), { concurrency: 8 })
    assert.strictEqual(swept.reduce((sum, count) => sum + count, 0), 180)
    assert.deepStrictEqual(yield* sql`SELECT id FROM webhooks_event`, [])
  }).pipe(Effect.provide(overPostgres)))

it.effect("never claims what was published in the moment in which its endpoint went, and deletes it by its age", () =>
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
    assert.strictEqual(yield* store.expire(at(1), 10), 2)
    assert.strictEqual(yield* store.sweep(at(1), 10), 2)
  }).pipe(Effect.provide(overPostgres)))

it.effect("lets workers, sweeps, customers and publishers work on the same rows without a conflict", () =>
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
      Effect.andThen(store.expire(at(n - 20), 5), Effect.andThen(store.sweep(at(n - 10), 7), store.trimSends(3, 20)))
    const turns = [publish, work, work, work, sweep]
    // A conflict would be a failure here: only units are run again after one.
    yield* Effect.forEach(Array.from({ length: 400 }), (_, n) => turns[n % 5]!(n), { concurrency: 12 })
    assert.isAbove(delivered, 100)
  }).pipe(Effect.provide(overPostgres)))

interface PlanNode {
  readonly "Node Type": string
  readonly "Index Name"?: string
  readonly "Actual Rows": number
  readonly "Actual Loops": number
  readonly "Rows Removed by Filter"?: number
  readonly Plans?: ReadonlyArray<PlanNode>
}

const PlanNode: Schema.Codec<PlanNode> = Schema.Struct({
  "Node Type": Schema.String,
  "Index Name": Schema.optionalKey(Schema.String),
  "Actual Rows": Schema.Number,
  "Actual Loops": Schema.Number,
  "Rows Removed by Filter": Schema.optionalKey(Schema.Number),
  Plans: Schema.optionalKey(Schema.Array(Schema.suspend((): Schema.Codec<PlanNode> => PlanNode)))
})

const Explained = Schema.Tuple([Schema.Struct({ Plan: PlanNode })])

const nodesOf = (node: PlanNode): ReadonlyArray<PlanNode> => [node, ...(node.Plans ?? []).flatMap(nodesOf)]

/** The plan that a statement ran with. */
const explain = Effect.fnUntraced(function*(statement: Statement.Statement<unknown>) {
  const sql = yield* SqlClient.SqlClient
  const [explained] = yield* sql`EXPLAIN (ANALYZE, FORMAT JSON) ${statement}`
  const [{ Plan }] = yield* Schema.decodeUnknownEffect(Explained)(explained?.["QUERY PLAN"])
  return nodesOf(Plan)
})

const assertReadsAtMost = (nodes: ReadonlyArray<PlanNode>, rows: number) => {
  for (const node of nodes) {
    const read = (node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0)) * node["Actual Loops"]
    assert.isAtMost(read, rows, `${node["Node Type"]} on ${node["Index Name"]}`)
  }
}
