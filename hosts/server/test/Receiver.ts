/** A receiver of webhooks on 127.0.0.1. */
import { Effect, Latch, Queue } from "effect"
import { once } from "node:events"
import { createServer, type IncomingHttpHeaders } from "node:http"

/** A received webhook. */
export interface Arrival {
  readonly headers: IncomingHttpHeaders
  readonly body: Uint8Array
}

/** Listens until the scope closes. Responds with 200 while `answers` is open. It is open at first. */
export const listen = Effect.gen(function*() {
  const arrived = yield* Queue.unbounded<Arrival>()
  const answers = yield* Latch.make(true)
  const server = yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const server = createServer(async (request, response) => {
        const chunks: Array<Uint8Array> = []
        for await (const chunk of request) chunks.push(chunk)
        Queue.offerUnsafe(arrived, { headers: request.headers, body: Buffer.concat(chunks) })
        await Effect.runPromise(answers.await)
        response.writeHead(200).end()
      })
      server.listen(0, "127.0.0.1")
      await once(server, "listening")
      return server
    }),
    (server) =>
      Effect.sync(() => {
        server.closeAllConnections()
        server.close()
      })
  )
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return { url: `http://127.0.0.1:${port}/hooks`, arrived, answers }
})
