import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { assert, it } from "@effect/vitest"
import { ResponseWriter } from "@kinora/http-server"
import { Deferred, Effect, Latch, Layer } from "effect"
import { HttpEffect, HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import { createServer } from "node:http"
import { connect } from "node:net"
import * as HostResponseWriter from "../src/internal/responseWriter.ts"

/** More than the buffers of the system hold. */
const bytesEach = 16 * 1024 ** 2
const chunkBytes = 64 * 1024

/**
 * A server that sends `bytesEach` times the byte that the path names, from one piece of memory, which it overwrites as soon
 * as the writer reports its bytes as sent. The first response begins after the others. Completes `waiting` when it has to wait
 * for a client.
 */
const serve = Effect.fnUntraced(function*(waiting: Deferred.Deferred<void>) {
  const connectionOf = yield* ResponseWriter.ResponseWriter
  const body = {}
  const others = yield* Latch.make()
  const respond = Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    const byte = Number(request.url.slice(1))
    const connection = connectionOf(request)
    const head = { contentLength: bytesEach }
    if (byte === 1) yield* others.await
    if (connection === undefined) {
      others.openUnsafe()
      return HttpServerResponse.uint8Array(new Uint8Array(bytesEach).fill(byte))
    }
    const send = Effect.gen(function*() {
      connection.head(HttpServerResponse.raw(body, head))
      const memory = new Uint8Array(chunkBytes)
      for (let left = bytesEach - chunkBytes; left >= 0; left -= chunkBytes) {
        memory.fill(byte)
        const sent = left > 0 ? connection.write(memory) : connection.end(memory)
        if (sent !== undefined) {
          yield* Deferred.succeed(waiting, undefined)
          yield* sent
        }
        memory.fill(0)
      }
      others.openUnsafe()
    })
    yield* HttpEffect.appendPreResponseHandler((_, response) => Effect.as(send, response))
    return HttpServerResponse.raw(body, head)
  })
  yield* HttpServer.serveEffect(respond)
  const { address } = yield* HttpServer.HttpServer
  return "port" in address ? address.port : assert.fail("The server has no port")
})

const layer = Layer.merge(
  HostResponseWriter.layer,
  NodeHttpServer.layer(() => createServer(), { port: 0, host: "127.0.0.1" })
)

/** Sends requests together, and reads when the server waits. Returns the bytes of the connection. */
const readLate = (port: number, paths: ReadonlyArray<string>, waiting: Deferred.Deferred<void>) =>
  Effect.gen(function*() {
    const socket = connect(port, "127.0.0.1")
    yield* Effect.addFinalizer(() => Effect.sync(() => socket.destroy()))
    socket.pause()
    const ends = paths.map((_, index) => index < paths.length - 1 ? "" : "Connection: close\r\n")
    socket.write(paths.map((path, index) => `GET ${path} HTTP/1.1\r\nHost: a\r\n${ends[index]}\r\n`).join(""))
    yield* Deferred.await(waiting)
    return yield* Effect.promise(async () => {
      const chunks: Array<Buffer> = []
      for await (const chunk of socket) chunks.push(chunk)
      return bodiesOf(Buffer.concat(chunks))
    })
  })

const bodiesOf = (bytes: Buffer): ReadonlyArray<Buffer> => {
  const bodies: Array<Buffer> = []
  for (let at = 0; at < bytes.length;) {
    const start = bytes.indexOf("\r\n\r\n", at) + 4
    bodies.push(bytes.subarray(start, at = start + bytesEach))
  }
  return bodies
}

it.live("reports bytes as sent when nothing uses their memory any more, also for requests that wait for their turn", () =>
  Effect.gen(function*() {
    const waiting = yield* Deferred.make<void>()
    const port = yield* serve(waiting)
    const bodies = yield* readLate(port, ["/1", "/2", "/3"], waiting)
    assert.strictEqual(bodies.length, 3)
    for (const [index, body] of bodies.entries()) {
      assert.isTrue(body.equals(Buffer.alloc(bytesEach, index + 1)), `response ${index + 1}`)
    }
  }).pipe(Effect.scoped, Effect.provide(layer)))
