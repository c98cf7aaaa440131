import { Secret } from "@kinora/webhook-signing"
import * as Standard from "@kinora/webhook-signing/standard"

// The sender: `webhook-id`, `webhook-timestamp` and `webhook-signature`.
const secret = Secret.generate()
const body = JSON.stringify({ type: "order.paid", timestamp: "2026-11-22T12:00:00Z", data: { order: "7" } })
const headers = await Standard.sign({ id: "msg_1", body, secret })

// The receiver. Any library of Standard Webhooks verifies the request too.
const request = new Request("https://shop.example/webhooks", { method: "POST", body, headers: { ...headers } })
const { event, id } = await Standard.receive<{ readonly type: string }>(request, { secret })
console.log(id, event.type)
// msg_1 order.paid
