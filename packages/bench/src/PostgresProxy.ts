/** A proxy in front of Postgres that counts what clients send. */
import { Effect } from "effect"
import { connect, createServer, type Socket } from "node:net"
import { attempt } from "./Benchmark.ts"

/** Numbers of messages that clients have sent. */
export interface Sent {
  /** Messages that execute a statement: `Execute`, and `Query` without preparation. */
  readonly statements: number
  /** Number of times that a connection began to wait for a response. */
  readonly roundTrips: number
}

/** Starts a proxy for a database. It closes all connections when the scope closes. */
export const make = Effect.fnUntraced(function*(database: string) {
  const total = { statements: 0, roundTrips: 0 }
  const sockets = new Set<Socket>()
  const { hostname, port } = new URL(database)
  const server = createServer({ noDelay: true }, (client) => {
    const upstream = connect({ host: hostname, port: Number(port || 5432), noDelay: true })
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      // A lost connection fails the operation of its client.
      socket.on("error", () => {}).once("close", () => {
        sockets.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    count(client, upstream, total)
    client.pipe(upstream)
    upstream.pipe(client)
  })
  yield* Effect.acquireRelease(
    attempt("The proxy does not listen", () =>
      new Promise<void>((resolve, reject) => {
        server.once("error", reject).listen(0, "127.0.0.1", resolve)
      })),
    () =>
      Effect.sync(() => {
        server.close()
        for (const socket of sockets) socket.destroy()
      })
  )
  const url = new URL(database)
  const address = server.address()
  url.host = `127.0.0.1:${typeof address === "object" ? address?.port : ""}`
  return { url: url.href, sent: Effect.sync((): Sent => ({ ...total })) }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const [query, execute] = [0x51, 0x45]
const encryptionRequestBytes = 4

/** Counts the messages of a connection, in parts of any size. */
const count = (client: Socket, upstream: Socket, total: { statements: number; roundTrips: number }): void => {
  let isWaiting = false
  const types = readTypes((type) => {
    if (type === query || type === execute) total.statements++
  })
  client.on("data", (part: Buffer) => {
    types(part)
    if (!isWaiting) total.roundTrips++
    isWaiting = true
  })
  upstream.on("data", () => {
    isWaiting = false
  })
}

/** Calls a function with the type of each message of a client. The first message of a connection has no type. */
export const readTypes = (found: (type: number) => void) => {
  let header = Buffer.alloc(0)
  let rest = 0
  let typeBytes = 0
  return (part: Buffer): void => {
    for (let at = 0; at < part.length;) {
      if (rest > 0) {
        const skipped = Math.min(rest, part.length - at)
        rest -= skipped
        at += skipped
        continue
      }
      const missing = typeBytes + 4 - header.length
      header = Buffer.concat([header, part.subarray(at, at + missing)])
      at += missing
      if (header.length < typeBytes + 4) return
      rest = header.readUInt32BE(typeBytes) - 4
      if (typeBytes === 1) found(header[0]!)
      // The start of a connection has more bytes than a request for encryption, which precedes it.
      else if (rest > encryptionRequestBytes) typeBytes = 1
      header = Buffer.alloc(0)
    }
  }
}
