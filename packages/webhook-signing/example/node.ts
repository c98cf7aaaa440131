import { Webhook } from "@kinora/webhook-signing"
import { createServer } from "node:http"

/** A Node server. `receive` reads the raw body, so nothing else may read it before. */
export const receiver = (secret: string | undefined, keep: (event: Webhook.Event) => Promise<void>) =>
  createServer(async (request, response) => {
    try {
      const { event } = await Webhook.receive(request, { secret })
      await keep(event)
      response.writeHead(204).end()
    } catch (error) {
      response.writeHead(Webhook.statusOf(error)).end()
    }
  })
