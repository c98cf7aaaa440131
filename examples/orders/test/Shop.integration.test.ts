import { assert, it } from "@effect/vitest"
import { TestDatabase } from "@kinora/testkit"
import { Webhook } from "@kinora/webhook-signing"
import { Webhooks } from "@kinora/webhooks"
import { Effect, Exit, Layer, Queue, Redacted } from "effect"
import { createServer } from "node:http"
import { Orders } from "../src/Orders.ts"
import * as Shop from "../src/Shop.ts"

const key = Redacted.make("a key of thirty-two bytes or more")

for (const [name, database] of TestDatabase.all) {
  it.live(`sends a signed webhook for a paid order under the shop's name (${name})`, () =>
    Effect.gen(function*() {
      const customer = yield* makeCustomer
      const { create, deliveries } = yield* Webhooks.Webhooks
      const { pay } = yield* Orders
      const { endpoint, secret } = yield* create("ada", { url: customer.url, types: ["order.paid"] })
      customer.secret = Redacted.value(secret)
      yield* pay("ada", "order-1", 1_290)
      const { agent, event } = yield* Queue.take(customer.inbox)
      assert.deepInclude(event, { type: "order.paid", data: { order: "order-1", cents: 1_290 } })
      assert.strictEqual(agent, "Shop-Webhooks/1.0")

      // An order that is not stored sends no webhook: this id exists already.
      assert.isTrue(Exit.isFailure(yield* Effect.exit(pay("ada", "order-1", 99))))
      const published = yield* deliveries("ada", endpoint.id, { limit: 10 })
      assert.deepStrictEqual(published.map(({ id }) => id), [event.id])
    }).pipe(
      Effect.provide(Shop.layer({ key, guard: { allowPrivate: true } }).pipe(Layer.provide(database))),
      Effect.scoped
    ))
}

it.live("rejects private addresses as endpoints", () =>
  Effect.gen(function*() {
    const { create, list } = yield* Webhooks.Webhooks
    for (const url of ["https://127.0.0.1", "https://localhost", "https://10.0.0.1:8443", "http://192.0.2.1"]) {
      const refused = yield* Effect.flip(create("ada", { url }))
      assert.strictEqual(refused._tag === "WebhooksError" && refused.reason._tag, "AddressRefused")
    }
    assert.deepStrictEqual(yield* list("ada"), [])
  }).pipe(Effect.provide(Shop.layer({ key }).pipe(Layer.provide(TestDatabase.pglite)))))

interface Received {
  readonly event: Webhook.Event
  readonly agent: string | undefined
}

/** A customer's server on a real socket. It verifies webhooks with its secret and queues the valid ones. */
const makeCustomer = Effect.gen(function*() {
  const inbox = yield* Queue.unbounded<Received>()
  const customer = { url: "", secret: "", inbox }
  const server = createServer(async (request, response) => {
    try {
      const options = { secret: customer.secret, headerName: "X-Shop-Signature" }
      const { event } = await Webhook.receive(request, options)
      Queue.offerUnsafe(inbox, { event, agent: request.headers["user-agent"] })
      response.writeHead(204).end()
    } catch (error) {
      response.writeHead(Webhook.statusOf(error)).end()
    }
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
    () => Effect.callback<void>((resume) => void server.close(() => resume(Effect.void)))
  )
  const address = server.address()
  if (typeof address !== "object" || address === null) return yield* Effect.die("The customer does not listen")
  customer.url = `http://127.0.0.1:${address.port}/hooks`
  return customer
})
