import { assert, it } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence"
import { Webhook } from "@kinora/webhook-signing"
import { Effect, Layer, Queue, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { createServer, type IncomingHttpHeaders } from "node:http"
import { DeliveryWorker, Webhooks } from "../src/index.ts"
import { listen } from "./receivers.ts"

const layerMemory = Webhooks.layerMemory({
  keys: [Redacted.make("a key of thirty-two bytes or more")],
  guard: { allowPrivate: true }
})

const layer = DeliveryWorker.layerHttp({ headerPrefix: "X-Parcels-", userAgent: "Parcels/1.0" }).pipe(
  Layer.provideMerge(layerMemory)
)

it.live("layerHttp sends a signed request for each event that the endpoint accepts", () =>
  Effect.gen(function*() {
    const { received, url } = yield* receiver
    const { atomically } = yield* UnitOfWork.UnitOfWork
    const webhooks = yield* Webhooks.Webhooks
    const { secret } = yield* webhooks.create("ada", { url, types: ["parcel.shipped"] })
    yield* webhooks.publish([{ account: "somebody else", type: "parcel.shipped", data: { parcel: "P-2" } }])
    yield* webhooks.publish([{ account: "ada", type: "parcel.lost", data: { parcel: "P-3" } }])
    yield* atomically(webhooks.publish([{ account: "ada", type: "parcel.shipped", data: { parcel: "P-1" } }]))

    const { body, headers } = yield* Queue.take(received)
    assert.strictEqual(headers["user-agent"], "Parcels/1.0")
    assert.strictEqual(headers["x-parcels-event"], "parcel.shipped")
    const { event } = yield* Effect.promise(() =>
      Webhook.verify({ body, headers, secret: Redacted.value(secret), headerName: "X-Parcels-Signature" })
    )
    assert.strictEqual(event.id, headers["x-parcels-delivery"])
    assert.deepInclude(event, { type: "parcel.shipped", data: { parcel: "P-1" } })
    assert.strictEqual(yield* Queue.size(received), 0)
  }).pipe(Effect.provide(layer), Effect.scoped))

it.effect("layerSweep fails deliveries that are pending for too long", () =>
  Effect.gen(function*() {
    const webhooks = yield* Webhooks.Webhooks
    const { endpoint: { id } } = yield* webhooks.create("ada", { url: "http://127.0.0.1/hooks" })
    yield* webhooks.test("ada", id)
    const statuses = Effect.map(
      webhooks.deliveries("ada", id, { limit: 10 }),
      (deliveries) => deliveries.map(({ status }) => status)
    )
    yield* TestClock.adjust("71 hours")
    assert.deepStrictEqual(yield* statuses, ["pending"])
    yield* TestClock.adjust("2 hours")
    assert.deepStrictEqual(yield* statuses, ["failed"])
    yield* TestClock.adjust("5 days")
    assert.deepStrictEqual(yield* statuses, [])
  }).pipe(Effect.provide(Webhooks.layerSweep().pipe(Layer.provideMerge(layerMemory)))))

interface Received {
  readonly headers: IncomingHttpHeaders
  readonly body: Uint8Array
}

/** A receiver that answers every request with 204. */
const receiver = Effect.gen(function*() {
  const received = yield* Queue.unbounded<Received>()
  const server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      Queue.offerUnsafe(received, { headers: request.headers, body: Buffer.concat(chunks) })
      response.writeHead(204).end()
    })
  })
  const { port } = yield* listen(server)
  return { received, url: `http://127.0.0.1:${port}/hooks` }
})
