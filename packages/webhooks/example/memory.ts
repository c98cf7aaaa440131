import { DeliveryWorker, Webhooks } from "@kinora/webhooks"
import { Console, Effect, Layer, Redacted } from "effect"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

// A receiver on this machine.
const receiver = createServer((request, response) => {
  response.writeHead(204).end()
  receiver.emit("event", request.headers["x-service-event"])
})
const received = once(receiver, "event")
await once(receiver.listen(), "listening")
const { port } = receiver.address() as AddressInfo

const program = Effect.gen(function*() {
  const webhooks = yield* Webhooks.Webhooks
  yield* webhooks.create("ada", { url: `http://127.0.0.1:${port}/hooks` })
  yield* webhooks.publish([{ account: "ada", type: "parcel.shipped", data: { parcel: "P-1" } }])
  yield* Console.log(...(yield* Effect.promise(() => received)))
})

const layer = DeliveryWorker.layerHttp().pipe(
  Layer.provideMerge(Webhooks.layerMemory({
    keys: [Redacted.make("a key of at least thirty-two bytes")],
    guard: { allowPrivate: true } // Only for receivers on this machine.
  }))
)

await Effect.runPromise(Effect.provide(program, layer))
receiver.close()
// parcel.shipped
