/** Requests that arrive while the server listens already and its routes are not attached yet. */
import type { Server } from "node:http"

/**
 * Holds such requests and passes them to the first listener that is added later. Node does not respond
 * to a request without a listener, so a client or the probe of a load balancer would wait until it gives up.
 */
export const hold = (server: Server): void => {
  for (const event of ["request", "checkContinue", "upgrade"]) {
    const held: Array<ReadonlyArray<unknown>> = []
    const keep = (...request: ReadonlyArray<unknown>) => void held.push(request)
    const pass = (added: string | symbol, listener: (...request: ReadonlyArray<unknown>) => void) => {
      if (added !== event) return
      server.off("newListener", pass).off(event, keep)
      for (const request of held) listener(...request)
    }
    server.on(event, keep).on("newListener", pass)
  }
}
