/** The backends of webhooks, and endpoints and events for tests. */
import { Backend, DatabaseSchema, Migrations, UnitOfWork } from "@kinora/persistence"
import { TestDatabase } from "@kinora/testkit"
import { DateTime, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import {
  Delivery,
  Endpoint,
  Event,
  MemoryWebhookStore,
  SqlWebhookStore,
  type WebhookStore as Store
} from "../src/index.ts"
import { WebhookStore } from "../src/WebhookStore.ts"

export const memory = MemoryWebhookStore.layer.pipe(Layer.provideMerge(UnitOfWork.layerMemory))

/**
 * The store and the client of tests. On Postgres, the tables are in a schema, whose name the client writes into the statements of
 * tests too. On PGlite, and in transactions of other drivers, they are in the schema of the connection.
 */
const placed = (database: TestDatabase.TestDatabase) =>
  database === TestDatabase.postgres
    ? {
      store: Backend.inSchema(SqlWebhookStore, "apart"),
      client: Layer.provideMerge(DatabaseSchema.layer("apart", SqlWebhookStore.migrations.objects), database)
    }
    : { store: SqlWebhookStore, client: database }

export const over = (database: TestDatabase.TestDatabase) => {
  const { client, store } = placed(database)
  return store.layer.pipe(
    // Hundreds of units take turns on few connections, on a machine that runs other tests.
    Layer.provideMerge(UnitOfWork.layerSqlWith({ deadline: "2 minutes" })),
    Layer.provideMerge(Migrations.layer(store.migrations)),
    Layer.provideMerge(client)
  )
}

/** The moment `seconds` after the start of the tests. */
export const at = (seconds: number): DateTime.Utc => DateTime.makeUnsafe(Date.UTC(2030, 0, 1) + seconds * 1_000)

let accounts = 0

/** A new account with endpoints, in a store that other tests use too. */
export const makeWorld = Effect.gen(function*() {
  const store = yield* WebhookStore
  const random = yield* SecureRandom.SecureRandom
  const make = <A>(id: Effect.Effect<A, never, SecureRandom.SecureRandom>) =>
    Effect.provideService(id, SecureRandom.SecureRandom, random)
  const account = `account-${++accounts}`

  const endpoint = Effect.fnUntraced(function*(change: Partial<Endpoint.Endpoint> = {}, sealed = "key.nonce.text") {
    const id = yield* make(Endpoint.EndpointId.make)
    const record: Store.EndpointRecord = {
      endpoint: {
        id,
        account,
        url: `https://example.com/${id}`,
        types: null,
        status: "enabled",
        createdAt: at(0),
        secretCreatedAt: at(0),
        ...change
      },
      secrets: [{ sealed, createdAt: at(0), expiresAt: null }]
    }
    yield* store.insertEndpoint(record)
    return record
  })

  /** Publishes one event for these endpoints, due at `time`. */
  const publish = Effect.fnUntraced(function*(
    endpoints: ReadonlyArray<Store.EndpointRecord>,
    time: DateTime.Utc = at(0),
    data: Event.NewEvent["data"] = { n: 1 }
  ) {
    const event: Event.Event = {
      id: yield* make(Event.EventId.make),
      account,
      type: "order.paid",
      data,
      createdAt: time
    }
    const deliveries = yield* Effect.forEach(
      endpoints,
      ({ endpoint }) =>
        Effect.map(make(Delivery.DeliveryId.make), (id) => ({ id, event: event.id, endpoint: endpoint.id }))
    )
    yield* store.publish([event], deliveries)
    return { event, deliveries: deliveries.map(({ id }) => id) }
  })

  return { account, endpoint, publish }
})

/** The settlement of a claim after a send of 12 ms. */
export const settlementOf = (
  { attempt, claims, delivery }: Pick<Delivery.Claimed, "attempt" | "claims" | "delivery">,
  next: Store.Settlement["next"],
  time: DateTime.Utc = at(0)
): Store.Settlement => ({
  delivery,
  claims,
  next,
  send: {
    outcome: next._tag === "Delivered"
      ? { reason: "ok", httpStatus: 204 }
      : { reason: "status_500", httpStatus: 500 },
    attempt,
    at: time,
    durationMillis: 12
  }
})
