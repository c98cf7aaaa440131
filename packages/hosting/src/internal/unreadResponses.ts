/** Closes connections whose clients do not receive their responses, whose bytes the server would hold. */
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
 * written. Before that, whoever writes it waits for the client, and limits the time of that.
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
