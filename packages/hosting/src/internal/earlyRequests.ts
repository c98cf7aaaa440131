/** Requests that arrive while the server listens already and its routes are not attached yet. */
import type { IncomingMessage, Server } from "node:http"

/**
 * Holds such requests and passes them to the first listener that is added later. Node does not respond
 * to a request without a listener, so a client or the probe of a load balancer would time out.
 */
export const hold = (server: Server): void => {
  // Without a listener, a held socket whose client resets it would end the process.
  server.on("upgrade", (_request, socket) => socket.on("error", () => socket.destroy()))
  for (const event of ["request", "checkContinue", "upgrade"]) {
    const held: Array<Request> = []
    const keep = (...request: Request) => void held.push(request)
    const pass = (added: string | symbol, listener: (...request: Request) => void) => {
      if (added !== event) return
      server.off("newListener", pass).off(event, keep)
      for (const [message, ...rest] of held) if (!message.destroyed) listener(message, ...rest)
    }
    server.on(event, keep).on("newListener", pass)
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The arguments of the listeners of all three events. */
type Request = readonly [message: IncomingMessage, ...rest: ReadonlyArray<unknown>]
