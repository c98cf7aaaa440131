import { Webhook } from "@kinora/webhook-signing"

/**
 * A Next route handler: `export const POST = receiver(process.env.WEBHOOK_SECRET, keep)` in
 * `app/webhooks/route.ts`. The same function works wherever a handler takes a standard `Request`:
 * Deno, Bun, Cloudflare Workers, SvelteKit, Remix.
 */
export const receiver =
  (secret: string | undefined, keep: (event: Webhook.Event) => Promise<void>) =>
  async (request: Request): Promise<Response> => {
    try {
      const { event } = await Webhook.receive(request, { secret })
      await keep(event)
      return new Response(null, { status: 204 })
    } catch (error) {
      return new Response(null, { status: Webhook.statusOf(error) })
    }
  }
