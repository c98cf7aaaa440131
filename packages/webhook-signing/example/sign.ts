import { Secret, Signature, Webhook } from "@kinora/webhook-signing"

// The sender signs the bytes of the body.
const secret = Secret.generate()
const order = { id: "dlv_1", type: "order.paid", created_at: "2026-11-22T12:00:00Z", data: { order: "7" } }
const body = JSON.stringify(order)
const headers = { "X-Service-Signature": await Signature.sign({ body, secret }) }

// The receiver verifies before it reads the event.
const { event } = await Webhook.verify({ body, headers, secret })
console.log(event.type, event.data)
// order.paid { order: '7' }
