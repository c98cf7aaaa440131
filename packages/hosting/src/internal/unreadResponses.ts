/** Closes connections of clients that do not read their responses, which the server would keep in memory. */
import { Duration, Effect } from "effect"
import type { ServerResponse } from "node:http"

/** How slowly a client can receive. */
export interface ReceivingLimits {
  /** Bytes per second. */
  readonly rateMin: number
  /** How long a client can fall behind this rate. */
  readonly stallMax: Duration.Duration
}

/**
 * Closes the connection of a response that its client receives too slowly. The time begins when the whole response is
 * written. Earlier, its writer waits for the client and limits that wait.
 */
export const limit = (response: ServerResponse, { rateMin, stallMax }: ReceivingLimits): void => {
  response.once("prefinish", () => {
    const { socket } = response
    if (socket === null || socket.writableLength === 0) return
    const timeMax = Duration.sum(stallMax, Duration.seconds(socket.writableLength / rateMin))
    const close = Effect.sync(() => socket.resetAndDestroy())
    const cancel = Effect.runCallback(Effect.andThen(Effect.sleep(timeMax), close))
    response.once("close", () => cancel())
  })
}
