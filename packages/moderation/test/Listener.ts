/** An HTTP server on this machine that records requests. */
import { Effect } from "effect"
import { once } from "node:events"
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo, Socket } from "node:net"

/** A received request. */
export interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** Listens until the scope closes. A handler that does not respond leaves the connection open. */
export const listen = Effect.fnUntraced(function*(handle: (response: ServerResponse, received: Received) => void) {
  const requests: Array<Received> = []
  const sockets = new Set<Socket>()
  const receive = async (message: IncomingMessage, response: ServerResponse) => {
    let body = ""
    for await (const part of message.setEncoding("utf8") as AsyncIterable<string>) body += part
    const received = { path: message.url ?? "", headers: message.headers, body }
    requests.push(received)
    handle(response, received)
  }
  const server = createServer((message, response) => {
    receive(message, response).catch(() => response.destroy())
  })
  server.on("connection", (socket: Socket) => {
    sockets.add(socket)
    socket.on("error", () => {})
    socket.on("close", () => sockets.delete(socket))
  })
  yield* Effect.acquireRelease(
    Effect.promise(() => once(server.listen(0, "127.0.0.1"), "listening")),
    () =>
      Effect.promise(async () => {
        for (const socket of sockets) socket.destroy()
        await once(server.close(), "close")
      })
  )
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests, sockets }
})

/** Responds with JSON. */
export const json = (response: ServerResponse, body: unknown, status = 200): void => {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))
}
