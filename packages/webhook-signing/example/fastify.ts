import { Webhook } from "@kinora/webhook-signing"
import type { FastifyPluginAsync } from "fastify"

/**
 * A Fastify plugin. Its parser passes the raw body on, for the routes of this plugin only. Fastify
 * responds to an error with its `status`.
 */
export const receiver =
  (secret: string | undefined, keep: (event: Webhook.Event) => Promise<void>): FastifyPluginAsync => async (app) => {
    const raw = { parseAs: "buffer", bodyLimit: 2 * 1024 ** 2 } as const
    app.addContentTypeParser("application/json", raw, (_request, body, done) => done(null, body))
    app.post("/webhooks", async (request, reply) => {
      const { event } = await Webhook.receive(request, { secret })
      await keep(event)
      return reply.code(204).send()
    })
  }
