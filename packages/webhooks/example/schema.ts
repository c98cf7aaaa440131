import { createWebhooks } from "@kinora/webhooks/promise"

// The tables are "events".webhooks_event and so on, whatever the search_path of the connection is.
const webhooks = await createWebhooks({
  url: process.env["DATABASE_URL"]!,
  schema: "events",
  keys: ["a key of at least thirty-two bytes"],
  guard: { allowPrivate: true } // Only for receivers on this machine.
})
await webhooks.create({ account: "ada", url: "http://127.0.0.1:8080/hooks" })
console.log((await webhooks.list({ account: "ada" })).map(({ url }) => url)) // [ 'http://127.0.0.1:8080/hooks' ]
await webhooks.close()
