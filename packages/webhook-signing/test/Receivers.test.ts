/** The example receivers in their real frameworks over real sockets. */
import { assert, describe, it, onTestFinished } from "@effect/vitest"
import type { Express } from "express"
import fastify from "fastify"
import { once } from "node:events"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import * as onExpress from "../example/express.ts"
import * as onFastify from "../example/fastify.ts"
import * as onHono from "../example/hono.ts"
import * as onNext from "../example/next.ts"
import * as onNode from "../example/node.ts"
import { Signature, type Webhook } from "../src/index.ts"
import { serve } from "./hono.ts"
import { body, event, otherSecret, secret } from "./Scene.ts"

type Keep = (event: Webhook.Event) => Promise<void>

/** Posts to a receiver. */
type Post = (body: string | ReadableStream<Uint8Array>, headers: Readonly<Record<string, string>>) => Promise<number>

/** A running receiver. */
type Start = (secret: string | undefined, keep: Keep) => Promise<Post>

const overSocket = async (server: Server): Promise<Post> => {
  if (!server.listening) await once(server, "listening")
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`
  return async (body, headers) => {
    const response = await fetch(url, {
      method: "POST",
      body,
      headers: { "content-type": "application/json", ...headers },
      duplex: "half"
    })
    await response.arrayBuffer()
    return response.status
  }
}

const listen = (app: Express) => app.listen(0, "127.0.0.1")

const frameworks: Readonly<Record<string, Start>> = {
  node: async (secret, keep) => overSocket(onNode.receiver(secret, keep).listen(0, "127.0.0.1")),
  express: async (secret, keep) => overSocket(listen(onExpress.receiver(secret, keep))),
  fastify: async (secret, keep) => {
    const app = fastify().register(onFastify.receiver(secret, keep))
    await app.listen({ port: 0, host: "127.0.0.1" })
    return overSocket(app.server)
  },
  hono: async (secret, keep) =>
    overSocket(
      serve({ fetch: onHono.receiver(secret, keep).fetch, port: 0, hostname: "127.0.0.1", createServer }) as Server
    ),
  // Next's route handlers take a standard `Request`, so this test passes one.
  next: async (secret, keep) => {
    const handle = onNext.receiver(secret, keep)
    return async (body, headers) => {
      const request = new Request("https://shop.example/webhooks", { method: "POST", body, headers, duplex: "half" })
      return (await handle(request)).status
    }
  }
}

/** The body in chunks, some of which end inside a character, without Content-Length. */
const inPieces = (text: string, size = 7) => {
  const bytes = new TextEncoder().encode(text)
  return new ReadableStream<Uint8Array>({
    start: (controller) => {
      for (let i = 0; i < bytes.length; i += size) controller.enqueue(bytes.slice(i, i + size))
      controller.close()
    }
  })
}

const signed = async (body: string, options: Partial<Signature.SignOptions> = {}) => ({
  "X-Service-Signature": await Signature.sign({ body, secret, ...options })
})

const past = () => Math.floor(Date.now() / 1000) - 400

for (const [name, start] of Object.entries(frameworks)) {
  describe(`the receiver for ${name}`, () => {
    it("accepts a signed request and responds with 204", async () => {
      const kept: Array<Webhook.Event> = []
      const post = await start(secret, async (event) => void kept.push(event))
      const large = JSON.stringify({ ...event, data: "x".repeat(1.5 * 1024 ** 2) })
      const bodies = [body, `${JSON.stringify(event, null, 3)}\r\n`, `{"x": 1.0, ${body.slice(1)}`, large]
      for (const body of bodies) {
        assert.strictEqual(await post(body, await signed(body)), 204)
        assert.strictEqual(
          await post(
            inPieces(body, body.length > 1000 ? 10_000 : 7),
            await signed(body, { secret: [otherSecret, secret] })
          ),
          204
        )
      }
      assert.deepStrictEqual(kept.map(({ id }) => id), Array.from({ length: 8 }, () => event.id))
      assert.deepStrictEqual(kept[0], event)
    })

    it("responds with 400 to an unsigned request and stores nothing", async () => {
      const kept: Array<Webhook.Event> = []
      const post = await start(secret, async (event) => void kept.push(event))
      const answers = [
        await post(body, {}),
        await post(body, { "x-service-signature": "t=1" }),
        await post(body.replace("naïve", "native"), await signed(body)),
        await post(body, await signed(body, { secret: otherSecret })),
        await post(body, await signed(body, { timestamp: past() })),
        await post("{}", await signed("{}"))
      ]
      assert.deepStrictEqual([answers, kept], [[400, 400, 400, 400, 400, 400], []])
    })

    it("responds with 413 to a body above 2 MiB, with and without Content-Length", async () => {
      const large = JSON.stringify({ ...event, data: "x".repeat(2 * 1024 ** 2) })
      for (const body of [large, inPieces(large, 10_000)]) {
        // A new connection each, because a server may close one with an unread body.
        const post = await start(secret, async () => {})
        assert.strictEqual(await post(body, await signed(large)), 413)
      }
    })

    it("responds with 500 if the event could not be stored, so that the sender retries", async () => {
      const post = await start(secret, async () => {
        throw new Error("The database is unavailable")
      })
      assert.strictEqual(await post(body, await signed(body)), 500)
    })

    it("responds with 500 if its secret is not set", async () => {
      const post = await start(undefined, async () => {})
      assert.strictEqual(await post(body, await signed(body)), 500)
    })
  })
}
