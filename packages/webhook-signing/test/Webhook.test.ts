/** Receipt of requests of all kinds. */
import { assert, it } from "@effect/vitest"
import { Readable } from "node:stream"
import { runInNewContext } from "node:vm"
import { Webhook } from "../src/index.ts"
import { body, event, now, reasonOf, refusal, secret, signed } from "./Scene.ts"

const bytes = new TextEncoder().encode(body)
const { headers } = await signed()
const options = { secret, nowMillis: now * 1000 }

const receive = (request: object, more: Partial<Webhook.ReceiveOptions> = {}) =>
  Webhook.receive(Object.assign(request, { headers }), { ...options, ...more })

const request = (body: Uint8Array<ArrayBuffer> | null = bytes) =>
  new Request("https://shop.example", { method: "POST", body, headers })

it("verifies the body and parses the event with the expected type", async () => {
  type Paid = Webhook.Event<"order.paid", { readonly note: string }>
  const verified = await Webhook.verify<Paid>(await signed())
  assert.deepStrictEqual<unknown>(verified, { event, timestamp: now, warnings: [] })
  const { data: { note }, type } = verified.event
  assert.deepStrictEqual([type, note], ["order.paid", event.data.note])
})

it("reads a standard Request", async () => {
  assert.deepStrictEqual((await Webhook.receive(request(), options)).event, event)
})

it("reads a Node stream, also one with an encoding", async () => {
  assert.deepStrictEqual((await receive(Readable.from([bytes.slice(0, 70), bytes.slice(70)]))).event, event)
  const pieces = Array.from(bytes, (byte) => Buffer.of(byte))
  const text = Readable.from(pieces, { objectMode: false }).setEncoding("utf8")
  assert.deepStrictEqual((await receive(text)).event, event)
})

it("reads the raw body from body, or from rawBody beside a parsed one", async () => {
  const views = [bytes, Buffer.from(bytes), bytes.buffer, new DataView(bytes.buffer), body]
  for (const raw of views) {
    assert.deepStrictEqual((await receive({ body: raw })).event, event)
    assert.deepStrictEqual((await receive({ body: event, rawBody: raw })).event, event)
  }
})

it("accepts bytes of another realm", async () => {
  const foreign: unknown = runInNewContext("Uint8Array.from(bytes)", { bytes: [...bytes] })
  assert.notInstanceOf(foreign, Uint8Array)
  assert.deepStrictEqual((await receive({ body: foreign })).event, event)
})

it("reports a body that was read or parsed before, and the fix for each framework", async () => {
  const read = request()
  await read.json()
  const held = request()
  held.body!.getReader()
  const drained = Readable.from([bytes])
  await drained.toArray()
  const spoiled = [
    Webhook.receive(read, options),
    Webhook.receive(held, options),
    receive(drained),
    receive({ body: event }),
    receive(Object.assign(drained, { body: event }))
  ]
  for (const verified of spoiled) {
    const { message, reason, status } = await refusal(verified)
    assert.deepStrictEqual([reason, status], ["parsed_body", 500])
    for (const framework of ["Express", "Fastify", "Hono", "Next", "NestJS"]) assert.include(message, `${framework}: `)
  }
})

it("reports a missing body", async () => {
  assert.strictEqual(await reasonOf(receive({})), "missing_body")
  assert.strictEqual(await reasonOf(receive({ body: null })), "missing_body")
})

it("verifies a Request without a body as an empty body", async () => {
  assert.strictEqual(await reasonOf(Webhook.receive(request(null), options)), "no_match")
})

it("does not read the body of a request without a well-formed signature", async () => {
  const strangers = [{}, { "x-service-signature": "t=1,v1=x" }]
  for (const headers of strangers) {
    const stranger = new Request("https://shop.example", { method: "POST", body, headers })
    await refusal(Webhook.receive(stranger, options))
    assert.isFalse(stranger.bodyUsed)
  }
})

it("reads at most bodyBytesMax bytes, and leaves a Node stream open for the response", async () => {
  const bodyBytesMax = bytes.length - 1
  const stream = Readable.from(Array.from(bytes, (byte) => Buffer.of(byte)))
  const tooLarge = [
    receive(stream, { bodyBytesMax }),
    receive({ body: bytes }, { bodyBytesMax }),
    Webhook.receive(request(), { ...options, bodyBytesMax }),
    Webhook.receive(
      { ...headersOf({ "content-length": String(bytes.length) }), ...streamThatFails() },
      { ...options, bodyBytesMax }
    )
  ]
  for (const verified of tooLarge) {
    const { reason, status } = await refusal(verified)
    assert.deepStrictEqual([reason, status], ["body_too_large", 413])
  }
  assert.isFalse(stream.destroyed)
  for (const request of [{ body: bytes }, Readable.from([bytes])]) {
    await receive(request, { bodyBytesMax: bytes.length })
  }
})

it("rejects with the error of an aborted request", async () => {
  const error = await receive(streamThatFails()).catch((error: unknown) => error)
  assert.deepStrictEqual(error, new Error("aborted"))
  assert.strictEqual(Webhook.statusOf(error), 500)
})

it("returns the status of each reason", () => {
  const status = (reason: Webhook.Reason) => Webhook.statusOf(new Webhook.VerificationError(reason))
  const sender = ["missing_header", "malformed_header", "no_match", "expired", "malformed_event"] as const
  const receiver = ["missing_body", "parsed_body", "no_secret", "secret_whitespace"] as const
  assert.deepStrictEqual(sender.map(status), [400, 400, 400, 400, 400])
  assert.deepStrictEqual(receiver.map(status), [500, 500, 500, 500])
  assert.strictEqual(Webhook.statusOf("anything else"), 500)
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const headersOf = (more: Readonly<Record<string, string>>) => ({ headers: { ...headers, ...more } })

const streamThatFails = () => ({
  async *[Symbol.asyncIterator]() {
    yield bytes.slice(0, 10)
    throw new Error("aborted")
  }
})
