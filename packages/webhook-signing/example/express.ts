import { Webhook } from "@kinora/webhook-signing"
import express from "express"

/** An Express app. The route comes before `express.json()`, which would consume the raw body. */
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
