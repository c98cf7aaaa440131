import { assert, it, onTestFinished, vi } from "@effect/vitest"
import { once } from "node:events"
import { readFile } from "node:fs/promises"
import type { Server } from "node:http"
import type { AddressInfo } from "node:net"
import { Stripe } from "stripe"
import { issue, type OrderEvent, receive, send } from "../example/orders.ts"
import { Signature } from "../src/index.ts"
import { serve } from "./hono.ts"

/** A customer's server with its stored events and its log. */
const open = async (secrets: ReadonlyArray<string | undefined>) => {
  const kept = new Map<string, OrderEvent>()
  const lines: Array<string> = []
  const inbox = {
    keepOnce: async (event: OrderEvent) => void kept.set(event.id, event),
    log: (line: string) => void lines.push(line)
  }
  const fetch = (request: Request) => receive(request, secrets, inbox)
  const server = serve({ fetch, port: 0, hostname: "127.0.0.1" }) as Server
  if (!server.listening) await once(server, "listening")
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, kept, lines }
}

const paid: OrderEvent = {
  id: "dlv_1",
  type: "order.paid",
  created_at: "2026-11-21T12:00:00Z",
  data: { order: "Nº 7", cents: 1200 }
}

it("the README's example delivers each event once during a rotation of secrets", async () => {
  const [old, next] = [await issue(), await issue()]
  const { kept, lines, url } = await open([old.secret, next.secret])
  for (const signers of [[old.signer], [next.signer, old.signer], [next.signer]]) {
    assert.strictEqual((await send(url, paid, signers)).status, 204)
  }
  assert.deepStrictEqual([[...kept.values()], lines], [[paid], []])
})

it("the README's example rejects a foreign signature and logs the reason", async () => {
  const { kept, lines, url } = await open([(await issue()).secret, undefined])
  assert.strictEqual((await send(url, paid, [(await issue()).signer])).status, 400)
  assert.strictEqual(kept.size, 0)
  assert.match(lines.join("\n"), /^no_match: No signature matches\. Is this the secret of this endpoint/)
})

it("the first example of the README prints what it shows", async () => {
  const log = vi.spyOn(console, "log").mockReturnValue()
  await import("../example/sign.ts")
  assert.deepStrictEqual(log.mock.calls, [["order.paid", { order: "7" }]])
  log.mockRestore()
})

it("the example of Standard Webhooks prints what it shows", async () => {
  const log = vi.spyOn(console, "log").mockReturnValue()
  await import("../example/standard.ts")
  assert.deepStrictEqual(log.mock.calls, [["msg_1", "order.paid"]])
  log.mockRestore()
})

const read = (path: string) => readFile(new URL(path, import.meta.url), "utf8")

it("the README shows the examples as they run", async () => {
  const readme = await read("../README.md")
  for (const example of ["sign", "standard", "next", "node", "express", "fastify", "hono", "orders"]) {
    assert.include(readme, await read(`../example/${example}.ts`))
  }
})

it("the how-to for receivers shows two of the examples", async () => {
  const guide = await read("../../../docs/how-to/receive-webhooks.md")
  for (const example of ["next", "express"]) assert.include(guide, await read(`../example/${example}.ts`))
})

it("the signature in the how-to for receivers is valid", async () => {
  const guide = await read("../../../docs/how-to/receive-webhooks.md")
  const [, secret, body, header] = /^```\n(whsec_.*)\n(.*)\n(t=.*)\n```$/m.exec(guide)!
  const [, timestamp] = /^t=([0-9]+)/.exec(header!)!
  assert.strictEqual(await Signature.sign({ body: body!, secret: secret!, timestamp: Number(timestamp) }), header)
  const event: unknown = Stripe.webhooks.constructEvent(
    body!,
    header!,
    secret!,
    undefined,
    undefined,
    Number(timestamp) * 1000
  )
  assert.deepStrictEqual(event, JSON.parse(body!))
})
