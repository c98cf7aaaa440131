import { Webhook } from "@kinora/webhook-signing"
import express from "express"

/**
 * An app of Express. The route stands before `express.json()`, which would take the raw
 * body away.
 */
export const receiver = (secret: string | undefined, keep: (event: Webhook.Event) => Promise<void>) => {
  const app = express()
  app.post("/webhooks", (request, response) => {
    Webhook.receive(request, { secret })
      .then(({ event }) => keep(event))
      .then(() => response.sendStatus(204))
      .catch((error: unknown) => response.sendStatus(Webhook.statusOf(error)))
  })
  app.use(express.json())
  return app
}
