/** The raw body in real frameworks, as the error message and the how-to describe it. */
import { assert, it, onTestFinished } from "@effect/vitest"
import express, { type RequestHandler } from "express"
import fastify, { type FastifyRequest } from "fastify"
import { Hono } from "hono"
import { once } from "node:events"
import type { IncomingMessage, Server } from "node:http"
import type { AddressInfo } from "node:net"
import { Webhook } from "../src/index.ts"
import { body, now, secret, signed } from "./Scene.ts"

const { headers } = await signed()
const sent = { method: "POST", body, headers: { ...headers, "content-type": "application/json" } }

/** Returns the id of the event, or the reason of the rejection. */
const outcome = (request: Webhook.RequestLike): Promise<string> =>
  Webhook.receive(request, { secret, nowMillis: now * 1000 }).then(
    ({ event }) => event.id,
    (error: unknown) => error instanceof Webhook.VerificationError ? error.reason : String(error)
  )

/** Returns the response of a server. */
const ask = async (server: Server): Promise<string> => {
  if (!server.listening) await once(server, "listening")
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return (await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`, sent)).text()
}

const onExpress = (...before: ReadonlyArray<RequestHandler>) => {
  const app = express()
  app.post("/webhooks", ...before, (request, response) => {
    void outcome(request).then((text) => response.send(text))
  })
  return ask(app.listen(0, "127.0.0.1"))
}

it("Express: reads the raw body except after express.json()", async () => {
  const keepRaw = (request: IncomingMessage & { rawBody?: Uint8Array }, _response: unknown, bytes: Uint8Array) => {
    request.rawBody = bytes
  }
  assert.strictEqual(await onExpress(express.json()), "parsed_body")
  assert.strictEqual(await onExpress(express.raw({ type: "*/*" })), "dlv_1")
  assert.strictEqual(await onExpress(express.urlencoded({ extended: true })), "dlv_1")
  assert.strictEqual(await onExpress(express.json({ verify: keepRaw })), "dlv_1")
  assert.strictEqual(await onExpress(), "dlv_1")
})

it("Fastify: reads the raw body only with a parser that returns a buffer, for its plugin only", async () => {
  const answer = (request: FastifyRequest) => outcome(request)
  const raw = { parseAs: "buffer" } as const
  const app = fastify()
  app.post("/parsed", answer)
  await app.register(async (plugin) => {
    plugin.addContentTypeParser("application/json", raw, (_request, body, done) => done(null, body))
    plugin.post("/raw", answer)
  })
  const post = async (url: string) => (await app.inject({ ...sent, method: "POST", url })).body
  assert.deepStrictEqual([await post("/parsed"), await post("/raw")], ["parsed_body", "dlv_1"])
})

it("Hono: reads the raw body except after c.req.json()", async () => {
  const app = new Hono()
  app.post("/parsed", async (c) => {
    await c.req.json()
    return c.text(await outcome(c.req.raw))
  })
  app.post("/raw", async (c) => c.text(await outcome(c.req.raw)))
  const post = async (path: string) => (await app.request(path, sent)).text()
  assert.deepStrictEqual([await post("/parsed"), await post("/raw")], ["parsed_body", "dlv_1"])
})
