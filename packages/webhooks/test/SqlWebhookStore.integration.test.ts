import { assert, it } from "@effect/vitest"
import { TestDatabase } from "@kinora/testkit"
import { Effect, Layer, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, type Statement } from "effect/sql"
import { EndpointId } from "../src/Endpoint.ts"
import * as Statements from "../src/internal/statements.ts"
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
