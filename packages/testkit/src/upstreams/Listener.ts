/** HTTP servers on this machine that record what they receive. */
import { Effect, type Scope } from "effect"
import { once } from "node:events"
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse
} from "node:http"
import type { AddressInfo, Socket } from "node:net"

/** A received request. */
export interface Received {
  readonly method: string
  /** Path and query. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** A listening server. */
export interface Listening {
  /** `http://127.0.0.1:port`. */
  readonly origin: string
  /** Requests that were received whole, oldest first. */
  readonly requests: ReadonlyArray<Received>
}

/** Handles a request. Without a response, the connection stays open until the client closes it. */
export type Handler = (request: Received, response: ServerResponse) => void

/** Listens on a free port until the scope closes. */
export const listen = (handle: Handler): Effect.Effect<Listening, never, Scope.Scope> =>
  Effect.gen(function*() {
    const requests: Array<Received> = []
    const server = createServer((message, response) => {
      void receive(message, (request) => {
        requests.push(request)
        handle(request, response)
      }).catch(() => response.destroy())
    })
    return { origin: `http://127.0.0.1:${yield* serve(server)}`, requests }
  })

/** Starts to listen on a free port of this machine, and returns it. Closes the server and its connections with the scope. */
export const serve = Effect.fnUntraced(function*(server: Server) {
  const sockets = new Set<Socket>()
  server.on("connection", (socket: Socket) => {
    sockets.add(socket)
    socket.on("error", () => {})
    socket.on("close", () => sockets.delete(socket))
  })
  yield* Effect.acquireRelease(
    Effect.promise(async () => {
      server.listen(0, "127.0.0.1")
      await once(server, "listening")
    }),
    () =>
      Effect.promise(async () => {
        for (const socket of sockets) socket.destroy()
        server.close()
        await once(server, "close")
      })
  )
  return (server.address() as AddressInfo).port
})

/** Responds with JSON. */
export const json = (
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {}
): void => {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const receive = async (message: IncomingMessage, handle: (request: Received) => void): Promise<void> => {
  const parts: Array<Buffer> = []
  for await (const part of message as AsyncIterable<Buffer>) parts.push(part)
  const { headers, method = "", url: path = "" } = message
  handle({ method, path, headers, body: Buffer.concat(parts) })
}
