/**
 * A host of the webhook drill: the layers of production on Postgres. It publishes events in the same transaction that
 * marks them as published, and sends what is due. Some transactions roll back.
 */
import { PgClient } from "@effect/sql-pg"
import { AddressGuard } from "@kinora/address-guard"
import { Migrations, UnitOfWork } from "@kinora/persistence"
import { DeliveryWorker, SecretBox, SqlWebhookStore, UndiciTransport, Wakeup, Webhooks } from "@kinora/webhooks"
import { Data, Duration, Effect, Layer, Random, Redacted } from "effect"
import { Aead, Digest, SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"

/** Webhooks on the database, for hosts and for the drill itself. `sendsKept` is the length of the log. */
export const layer = (databaseUrl: string, sendsKept: number) =>
  Webhooks.layerWith({ sendsKept }).pipe(
    Layer.provideMerge(Layer.mergeAll(
      AddressGuard.layerWith({ allowPrivate: true }),
      SecretBox.layer({ keys: [Redacted.make("the key of a drill, which everybody may know")] }),
      SqlWebhookStore.layer,
      Wakeup.layer
    )),
    Layer.provideMerge(UnitOfWork.layerSql),
    Layer.provideMerge(PgClient.layer({ url: Redacted.make(databaseUrl), maxConnections: 8 })),
    Layer.provideMerge(Layer.mergeAll(Aead.layerWebCrypto, Digest.layerWebCrypto)),
    Layer.provideMerge(SecureRandom.layerWebCrypto),
    Layer.fresh
  )

/** Creates the tables. `unit` of an event names the transaction that published it. */
export const migrate = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Migrations.run([SqlWebhookStore.migrations])
  yield* sql`CREATE TABLE drill_event (n int PRIMARY KEY, account text NOT NULL, unit text)`
})

/** Publishes and sends until the process is killed. */
export const run = (databaseUrl: string, ready: Effect.Effect<void>) =>
  Effect.andThen(ready, Effect.forever(publishSome)).pipe(
    Effect.provide(worker.pipe(Layer.provideMerge(layer(databaseUrl, 20))))
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/**
 * Leases and delays are short, because the drill waits for them after every kill. Few sends run concurrently: all go to
 * one process, and a send that is late because of the others would fail.
 */
const worker = DeliveryWorker.layerWith({
  sendsMax: 24,
  lease: "5 seconds",
  pollInterval: "200 millis",
  schedule: [Duration.millis(500), Duration.seconds(2), Duration.seconds(4)]
}).pipe(Layer.provide(UndiciTransport.layerWith({ timeout: "2500 millis" })))

/** Events per transaction. */
const unitSize = 20

/** Share of the transactions that roll back. */
const undoneShare = 0.1

class Undone extends Data.TaggedError("Undone")<{}> {}

const publishSome = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const webhooks = yield* Webhooks.Webhooks
  const { atomically } = yield* UnitOfWork.UnitOfWork
  const unit = `${yield* Random.nextInt} ${yield* Random.nextInt}`
  const publishing = Effect.gen(function*() {
    const taken = yield* sql<{ readonly n: number; readonly account: string }>`
      SELECT n, account FROM drill_event WHERE unit IS NULL
      ORDER BY n LIMIT ${unitSize} FOR UPDATE SKIP LOCKED
    `
    if (taken.length === 0) return false
    yield* webhooks.publish(taken.map(({ account, n }) => ({ account, type: "drill.happened", data: { n, unit } })))
    yield* sql`UPDATE drill_event SET unit = ${unit} WHERE ${sql.in("n", taken.map(({ n }) => n))}`
    if ((yield* Random.next) < undoneShare) return yield* new Undone()
    return true
  })
  const isBusy = yield* publishing.pipe(atomically, Effect.catchTag("Undone", () => Effect.succeed(true)))
  if (!isBusy) yield* Effect.sleep("50 millis")
})
