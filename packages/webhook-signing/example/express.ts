import { Webhook } from "@kinora/webhook-signing"
import express from "express"

/**
 * An app of Express 5. The route stands before `express.json()`, which would take the raw
 * body away. Express answers an error with its `status`.
 */
export const receiver = (secret: string | undefined, keep: (event: Webhook.Event) => Promise<void>) => {
  const app = express()
  app.post("/webhooks", async (request, response) => {
    const { event } = await Webhook.receive(request, { secret })
    await keep(event)
    response.sendStatus(204)
  })
  app.use(express.json())
  return app
}
