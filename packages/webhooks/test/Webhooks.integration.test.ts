import { assert, it } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence"
import { TestDatabase } from "@kinora/testkit"
import { Effect, Layer, Redacted, Schema, Tracer } from "effect"
import { SqlClient } from "effect/sql"
import { layer as layerWebhooks, Webhooks } from "../src/Webhooks.ts"
import * as FailingContract from "./FailingContract.ts"
import { over } from "./Fixture.ts"
import * as ForgetContract from "./ForgetContract.ts"
import * as HistoryContract from "./HistoryContract.ts"
import * as SecretsContract from "./SecretsContract.ts"
import { makeAccount, newKey, oldKey, surroundings } from "./ServiceFixture.ts"
import * as WebhooksContract from "./WebhooksContract.ts"

for (const [name, database] of TestDatabase.all) {
  WebhooksContract.suite(name, over(database))
  SecretsContract.suite(name, over(database))
  HistoryContract.suite(name, over(database))
  FailingContract.suite(name, over(database))
  ForgetContract.suite(name, over(database))
}

const overPostgres = layerWebhooks.pipe(
  Layer.provideMerge(Layer.merge(over(TestDatabase.postgres), surroundings))
)

it.effect("stores no plain secret and no key in any table", () =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const webhooks = yield* Webhooks
    const account = yield* makeAccount
    const { endpoint: { id }, secret: first } = yield* webhooks.create(account, { url: "https://example.com" })
    const { secret: second } = yield* webhooks.rotate(account, id, "1 hour")
    yield* webhooks.test(account, id)
    const tables = yield* sql`
      SELECT schemaname || '.' || tablename AS name FROM pg_tables WHERE tablename LIKE 'webhooks%'
    `
    const names = (yield* Schema.decodeUnknownEffect(Schema.Array(Named))(tables)).map(({ name }) => name)
    const expected = ["webhooks_delivery", "webhooks_endpoint", "webhooks_secret", "webhooks_send"]
    assert.includeMembers(names, expected.map((name) => `apart.${name}`))
    const dump = JSON.stringify(
      yield* Effect.forEach(names, (name) => sql`SELECT to_jsonb(content)::text AS row FROM ${sql(name)} AS content`)
    )
    // The dump contains other columns.
    assert.include(dump, "https://example.com")
    for (const text of [Redacted.value(first), Redacted.value(second), oldKey, newKey]) {
      assert.notInclude(dump, text)
      assert.notInclude(dump, text.slice(6))
      assert.notInclude(dump, Buffer.from(text).toString("base64").slice(0, 20))
      assert.notInclude(dump, Buffer.from(text).toString("hex"))
    }
  }).pipe(Effect.provide(overPostgres)))

it.effect("publishes a set with two statements, and with one if no endpoint accepts the events", () =>
  Effect.gen(function*() {
    const webhooks = yield* Webhooks
    const { atomically } = yield* UnitOfWork.UnitOfWork
    const account = yield* makeAccount
    const events = Array.from({ length: 200 }, (_, n) => ({ account, type: "order.paid", data: { n } }))
    const publish = webhooks.publish(events)
    assert.strictEqual(yield* statementsOf(publish).pipe(atomically), 1)
    yield* webhooks.create(account, { url: "https://example.com", types: ["order.sent"] })
    assert.strictEqual(yield* statementsOf(publish).pipe(atomically), 1)
    for (const _ of [2, 3, 4]) yield* webhooks.create(account, { url: "https://example.com" })
    assert.strictEqual(yield* statementsOf(publish).pipe(atomically), 2)
  }).pipe(Effect.provide(overPostgres)))

const Named = Schema.Struct({ name: Schema.String })

/** Counts the statements that an effect sends to the database. */
const statementsOf = Effect.fnUntraced(function*<A, E, R>(effect: Effect.Effect<A, E, R>) {
  let statements = 0
  const counting = Tracer.make({
    span: (options) => {
      if (options.kind === "client") statements++
      return new Tracer.NativeSpan(options)
    }
  })
  yield* Effect.withTracer(effect, counting)
  return statements
})
