import { Webhook } from "@kinora/webhook-signing"
import { Hono } from "hono"

/** A Hono app for any runtime. `c.req.raw` has the raw body until `c.req.json()` is called. */
export const receiver = (secret: string | undefined, keep: (event: Webhook.Event) => Promise<void>) => {
  const app = new Hono()
  app.post("/webhooks", async (c) => {
    const { event } = await Webhook.receive(c.req.raw, { secret })
    await keep(event)
    return c.body(null, 204)
  })
  app.onError((error) => new Response(null, { status: Webhook.statusOf(error) }))
  return app
}
