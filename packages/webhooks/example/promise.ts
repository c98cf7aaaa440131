import { Webhook } from "@kinora/webhook-signing"
import { createWebhooks } from "@kinora/webhooks/promise"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { Pool } from "pg"

const pool = new Pool({ connectionString: process.env["DATABASE_URL"] })
// Creates or updates the tables, and deletes old deliveries in the background.
const webhooks = await createWebhooks({
  pool,
  keys: ["a key of at least thirty-two bytes"],
  guard: { allowPrivate: true } // Only for receivers on this machine.
})
await pool.query("CREATE TABLE parcel (id text PRIMARY KEY, customer text NOT NULL)")

/** Ships a parcel and publishes the event, or neither. */
const ship = async (customer: string, parcel: string) => {
  const tx = await pool.connect()
  try {
    await tx.query("BEGIN")
    await tx.query("INSERT INTO parcel VALUES ($1, $2)", [parcel, customer])
    await webhooks.publish({ account: customer, type: "parcel.shipped", data: { parcel }, tx })
    await tx.query("COMMIT")
  } catch (error) {
    await tx.query("ROLLBACK")
    throw error
  } finally {
    tx.release()
  }
}

const receiver = createServer()
await once(receiver.listen(), "listening")
const { port } = receiver.address() as AddressInfo
const { secret } = await webhooks.create({ account: "ada", url: `http://127.0.0.1:${port}/hooks` })

// The receiver verifies the signature before it reads the event.
receiver.on("request", async (request, response) => {
  const { event } = await Webhook.receive(request, { secret, headerName: "X-Parcels-Signature" })
  response.writeHead(204).end()
  receiver.emit("event", event.type, event.data)
})

// Sends in the background of this process.
const sender = await webhooks.deliver({ headerPrefix: "X-Parcels-", userAgent: "Parcels/1.0" })
const received = once(receiver, "event")
await ship("ada", "P-1")
console.log(...(await received)) // parcel.shipped { parcel: 'P-1' }

// Waits for the sends in flight and stores their outcomes.
await sender.close()
await webhooks.close()
await pool.end()
receiver.close()
