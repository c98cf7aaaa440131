import * as Standard from "@kinora/webhook-signing/standard"
import { createWebhooks } from "@kinora/webhooks/promise"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

const webhooks = await createWebhooks({
  memory: true,
  keys: ["a key of at least thirty-two bytes"],
  guard: { allowPrivate: true } // Only for receivers on this machine.
})
const receiver = createServer()
await once(receiver.listen(), "listening")
const { port } = receiver.address() as AddressInfo
const { secret } = await webhooks.create({ account: "ada", url: `http://127.0.0.1:${port}/hooks` })

receiver.on("request", async (request, response) => {
  const { event, id } = await Standard.receive<{ readonly type: string }>(request, { secret })
  response.writeHead(204).end()
  receiver.emit("event", id.slice(0, 4), event.type)
})

await webhooks.deliver({ signatureFormat: "standard" })
const received = once(receiver, "event")
await webhooks.publish({ account: "ada", type: "parcel.shipped", data: { parcel: "P-1" } })
await webhooks.wake()
console.log(...(await received)) // dlv_ parcel.shipped

await webhooks.close()
receiver.close()
