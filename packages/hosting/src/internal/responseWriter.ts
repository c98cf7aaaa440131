/** Writes responses to the sockets of `node:http`. See `ResponseWriter` of `@kinora/http-server`. */
import { toServerResponse } from "@effect/platform-node/NodeHttpServerRequest"
import { ResponseWriter } from "@kinora/http-server"
import { Effect, Layer } from "effect"
import type { HttpServerRequest } from "effect/http"
import { ServerResponse } from "node:http"
import type { Socket } from "node:net"

/** Provides the writer. */
export const layer: Layer.Layer<never> = Layer.succeed(
  ResponseWriter.ResponseWriter,
  (request) => connectionOf(request)
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const connectionOf = (request: HttpServerRequest.HttpServerRequest): ResponseWriter.Connection | undefined => {
  const response = toServerResponse(request)
  // A response waits for its turn if the client has sent several requests. One with `Expect` has its own rules.
  if (!(response instanceof ServerResponse) || response.socket === null) return undefined
  if (request.method !== "GET" || request.headers["expect"] !== undefined) return undefined
  const { socket } = response
  return {
    head: ({ headers, status }) => {
      response.strictContentLength = true
      response.writeHead(status, headers)
    },
    write: (bytes) =>
      send(response, socket, (done) => {
        // Node would send the head and the first bytes in the next turn of the event loop.
        socket.cork()
        response.write(bytes, () => done())
        socket.uncork()
      }),
    end: (bytes) => send(response, socket, (done) => void response.end(bytes, done)),
    abort: () => {
      response.destroy()
    }
  }
}

/** Sends bytes, and waits if the buffers of the system are full. A request whose client has disconnected is interrupted. */
const send = (
  response: ServerResponse,
  socket: Socket,
  write: (done: () => void) => void
): Effect.Effect<void> | undefined => {
  if (response.destroyed) return Effect.interrupt
  let isSent = false
  let onSent = () => {
    isSent = true
  }
  write(() => onSent())
  if (socket.writableLength === 0) return undefined
  return Effect.callback<void>((resume) => {
    if (isSent) return resume(Effect.void)
    if (response.destroyed) return resume(Effect.interrupt)
    const onClose = () => resume(Effect.interrupt)
    response.once("close", onClose)
    onSent = () => {
      response.off("close", onClose)
      resume(socket.destroyed ? Effect.interrupt : Effect.void)
    }
    return Effect.sync(() => {
      response.off("close", onClose)
      response.destroy()
    })
  })
}
