import { PgClient } from "@effect/sql-pg"
import { UnitOfWork } from "@kinora/persistence"
import { Webhook } from "@kinora/webhook-signing"
import { DeliveryWorker, Webhooks } from "@kinora/webhooks"
import { Config, Console, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

// Creates or updates the tables, sends in the background, and deletes old deliveries.
const layer = Layer.merge(
  DeliveryWorker.layerHttp({ headerPrefix: "X-Parcels-", userAgent: "Parcels/1.0" }),
  Webhooks.layerSweep()
).pipe(
  Layer.provideMerge(Webhooks.layerPostgres({
    keys: [Redacted.make("a key of at least thirty-two bytes")],
    guard: { allowPrivate: true } // Only for receivers on this machine.
  })),
  Layer.provideMerge(PgClient.layerConfig({ url: Config.Redacted("DATABASE_URL") }))
)

/** Ships a parcel and publishes the event, or neither. */
const ship = Effect.fn("ship")(function*(customer: string, parcel: string) {
  const { atomically } = yield* UnitOfWork.UnitOfWork
  const sql = yield* SqlClient.SqlClient
  const webhooks = yield* Webhooks.Webhooks
  yield* atomically(Effect.gen(function*() {
    yield* sql`INSERT INTO parcel (id, customer) VALUES (${parcel}, ${customer})`
    yield* webhooks.publish([{ account: customer, type: "parcel.shipped", data: { parcel } }])
  }))
})

const receiver = createServer()
const received = once(receiver, "event")
await once(receiver.listen(), "listening")
const { port } = receiver.address() as AddressInfo

const program = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const webhooks = yield* Webhooks.Webhooks
  yield* sql`CREATE TABLE parcel (id text PRIMARY KEY, customer text NOT NULL)`
  const url = `http://127.0.0.1:${port}/hooks`
  const { secret } = yield* webhooks.create("ada", { url, types: ["parcel.shipped"] })

  // The receiver verifies the signature before it reads the event.
  receiver.on("request", async (request, response) => {
    const options = { secret: Redacted.value(secret), headerName: "X-Parcels-Signature" }
    const { event } = await Webhook.receive(request, options)
    response.writeHead(204).end()
    receiver.emit("event", event.type, event.data)
  })

  yield* ship("ada", "P-1")
  yield* Console.log(...(yield* Effect.promise(() => received)))
})

await Effect.runPromise(Effect.provide(program, layer))
receiver.close()
// parcel.shipped { parcel: 'P-1' }
