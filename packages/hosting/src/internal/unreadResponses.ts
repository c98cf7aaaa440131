/** Closes connections of clients that do not read their responses, which the server would keep in memory. */
import { ClientAddress } from "@kinora/rate-limit"
import { Duration, Effect } from "effect"
import type { ServerResponse } from "node:http"
import type { Socket } from "node:net"

/** How slowly clients can receive, and how much. */
export interface ReceivingLimits {
  /** Bytes per second. */
  readonly rateMin: number
  /** How long a client can fall behind this rate. */
  readonly stallMax: Duration.Duration
  /** Maximum number of bytes of written responses that no client has received yet. */
  readonly bytesMax: number
}

/**
 * Makes a function that closes the connection of a response that its client receives too slowly. The time begins when the whole
 * response is written. Earlier, its writer waits for the client and limits that wait. If clients together leave more than
 * `bytesMax`, connections of the address (IPv6: the /48) that leaves the most are closed, beginning with the oldest response.
 */
export const make = ({ bytesMax, rateMin, stallMax }: ReceivingLimits) => {
  const unread = new Map<Socket, Unread>()
  let bytesTotal = 0

  const close = (socket: Socket) => {
    remove(socket)
    // Also frees what the system would send.
    socket.resetAndDestroy()
  }
  const remove = (socket: Socket) => {
    bytesTotal -= unread.get(socket)?.bytes ?? 0
    unread.delete(socket)
  }
  const makeRoom = () => {
    if (bytesTotal <= bytesMax) return
    close(oldestOfLargest(unread))
    makeRoom()
  }
  const add = (socket: Socket) => {
    const bytes = socket.writableLength
    unread.set(socket, { bytes, owner: ClientAddress.site(socket.remoteAddress) })
    bytesTotal += bytes
    makeRoom()
    return Duration.sum(stallMax, Duration.seconds(bytes / rateMin))
  }

  return (response: ServerResponse): void => {
    response.once("prefinish", () => {
      const { socket } = response
      if (socket === null || socket.destroyed || socket.writableLength === 0) return
      const timeMax = add(socket)
      const cancel = Effect.runCallback(Effect.andThen(Effect.sleep(timeMax), Effect.sync(() => close(socket))))
      response.once("close", () => {
        cancel()
        remove(socket)
      })
    })
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** A written response. */
interface Unread {
  /** Bytes that the client had not received when it was written. */
  readonly bytes: number
  /** The group of addresses of its client. */
  readonly owner: string
}

/** Returns the connection with the oldest response of the owner with the most bytes. */
const oldestOfLargest = (unread: ReadonlyMap<Socket, Unread>): Socket => {
  const bytesOf = new Map<string, number>()
  for (const { bytes, owner } of unread.values()) bytesOf.set(owner, (bytesOf.get(owner) ?? 0) + bytes)
  const most = Math.max(...bytesOf.values())
  for (const [socket, { owner }] of unread) if (bytesOf.get(owner) === most) return socket
  throw new Error("No response is unread")
}
