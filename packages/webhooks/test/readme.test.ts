import { assert, it } from "@effect/vitest"
import { Webhook } from "@kinora/webhook-signing"
import { Effect, Queue, Redacted } from "effect"
import { readFile } from "node:fs/promises"
import { createServer, type IncomingHttpHeaders } from "node:http"
import { example, layer } from "../example/parcels.ts"

it.live("the README's example runs", () =>
  Effect.gen(function*() {
    const { received, url } = yield* receiver
    const secret = yield* example(url).pipe(
      Effect.tap(() => Effect.asVoid(Queue.peek(received))),
      Effect.provide(layer(Redacted.make("a key of thirty-two bytes or more")))
    )
    const [request, ...others] = yield* Queue.takeAll(received)
    assert.deepStrictEqual(others, [])
    const { body, headers } = request
    assert.strictEqual(headers["user-agent"], "Parcels/1.0")
    assert.strictEqual(headers["x-parcels-event"], "parcel.shipped")
    const { event } = yield* Effect.promise(() =>
      Webhook.verify({ body, headers, secret: Redacted.value(secret), headerName: "X-Parcels-Signature" })
    )
    assert.strictEqual(event.id, headers["x-parcels-delivery"])
    assert.deepInclude(event, { type: "parcel.shipped", data: { parcel: "P-1" } })
  }).pipe(Effect.scoped))

it.effect("the README shows the example as it runs", () =>
  Effect.gen(function*() {
    const read = (path: string) => Effect.promise(() => readFile(new URL(path, import.meta.url), "utf8"))
    assert.include(yield* read("../README.md"), yield* read("../example/parcels.ts"))
  }))

interface Received {
  readonly headers: IncomingHttpHeaders
  readonly body: Uint8Array
}

/** A customer's server, on a socket of this machine. */
const receiver = Effect.gen(function*() {
  const received = yield* Queue.unbounded<Received>()
  const server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      Queue.offerUnsafe(received, { headers: request.headers, body: Buffer.concat(chunks) })
      response.writeHead(204).end()
    })
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
    () => Effect.callback<void>((resume) => void server.close(() => resume(Effect.void)))
  )
  const address = server.address()
  assert.isObject(address)
  return { received, url: `http://127.0.0.1:${(address as { readonly port: number }).port}/hooks` }
})
