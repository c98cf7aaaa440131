/** Sockets to Postgres that report what passes through them. */
import * as Net from "node:net"

/** A socket for `PgClient`. */
export type PostgresSocket = Net.Socket

/** Gets what passes through a socket. */
export interface Observer {
  /** A write of the driver, which fills it with whole messages. */
  readonly sent: (frame: Uint8Array) => void
  readonly received: (part: Buffer) => void
  readonly closed?: () => void
}

/** Connects to Postgres. */
export const connect = (host: string, port: number, observer: Observer): PostgresSocket => {
  const socket = Net.connect({ host, port, noDelay: true })
  socket.on("data", observer.received)
  if (observer.closed !== undefined) socket.once("close", observer.closed)
  // Overrides the method, since a stream in between would copy every part.
  const write = (frame: Uint8Array): boolean => {
    observer.sent(frame)
    return Net.Socket.prototype.write.call(socket, frame)
  }
  return Object.assign(socket, { write })
}

/** Creates a function that returns the statements that each write of a connection executes, in order. */
export const readStatements = () => {
  const prepared = new Map<string, string>()
  let bound = ""
  return (frame: Uint8Array): ReadonlyArray<string> => {
    const bytes = Buffer.from(frame.buffer, frame.byteOffset, frame.byteLength)
    const executed: Array<string> = []
    for (const at of messagesIn(frame)) {
      const type = bytes[at]
      if (type === execute) executed.push(prepared.get(bound) ?? "")
      if (type !== parse && type !== bind) continue
      // Both begin with two texts: the name and the statement, or the portal and the name.
      const first = at + headerBytes
      const middle = bytes.indexOf(0, first)
      const second = bytes.toString("utf8", middle + 1, bytes.indexOf(0, middle + 1))
      if (type === parse) prepared.set(bytes.toString("utf8", first, middle), second)
      else bound = second
    }
    return executed
  }
}

/**
 * Counts the messages of a write that the server ends with ReadyForQuery: Sync, Query, and the start of a connection.
 * Cancellations have no response.
 */
export const cyclesIn = (frame: Uint8Array): number => {
  let count = 0
  for (const at of messagesIn(frame)) {
    const type = frame[at]
    if (type === sync || type === query || (type === 0 && !isCancellation(frame))) count++
  }
  return count
}

/** Returns an observer of the parts that a connection receives, which calls `ended` with the number of ReadyForQuery in each. */
export const countCycles = (ended: (cycles: number) => void) => {
  const header = Buffer.alloc(5)
  let filled = 0
  let rest = 0
  return (part: Buffer): void => {
    let cycles = 0
    for (let at = 0; at < part.length;) {
      if (rest > 0) {
        const length = Math.min(rest, part.length - at)
        rest -= length
        at += length
        continue
      }
      header[filled++] = part[at++]!
      if (filled < header.length) continue
      filled = 0
      rest = header.readUInt32BE(1) - 4
      if (header[0] === readyForQuery) cycles++
    }
    if (cycles > 0) ended(cycles)
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const [parse, bind, execute, sync, query, readyForQuery] = [0x50, 0x42, 0x45, 0x53, 0x51, 0x5a]

/** The type of a message, and its length. */
const headerBytes = 5

/** Returns the positions of the messages of a write. The first write of a connection is one whose type is missing: its first byte is 0. */
const messagesIn = function*(frame: Uint8Array): Generator<number> {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength)
  for (let at = 0; at + headerBytes <= frame.length;) {
    yield at
    if (frame[at] === 0) return
    at += 1 + view.getUint32(at + 1)
  }
}

const cancelRequest = 80_877_102

const isCancellation = (frame: Uint8Array): boolean =>
  frame.length >= 8 && Buffer.from(frame.buffer, frame.byteOffset, 8).readUInt32BE(4) === cancelRequest
