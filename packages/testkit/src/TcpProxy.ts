/** A TCP proxy between a host and its database that can stop forwarding without closing a connection, and can delay. */
import { Effect, type Scope } from "effect"
import { once } from "node:events"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"

/** A listening proxy. */
export interface TcpProxy {
  /** The URL of the target, with the address of the proxy. */
  readonly url: string
  /** Stops forwarding. Connections stay open, and new ones are accepted. */
  readonly hang: Effect.Effect<void>
  /** Stops forwarding on one connection: the next one on which the client sends. It stays open, also after `resume`. */
  readonly hangNext: Effect.Effect<void>
  /** Forwards what has arrived in the meantime, and everything after it. */
  readonly resume: Effect.Effect<void>
  /** Delays each part in each direction from now on. */
  readonly delay: (millis: number) => Effect.Effect<void>
}

/** Listens on a free port until the scope closes. `target` is a URL with a host and a port. */
export const make = (target: string): Effect.Effect<TcpProxy, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { hostname, port } = new URL(target)
    const sockets = new Set<Socket>()
    const hung = new WeakSet<Socket>()
    const gate = { isOpen: true, delayMillis: 0, hangsNext: false }

    const forward = (from: Socket, to: Socket, isClient: boolean) => {
      const write = makeWrite(to)
      sockets.add(from)
      if (!gate.isOpen) from.pause()
      from.on("data", (part) => {
        if (isClient && gate.hangsNext) {
          gate.hangsNext = false
          for (const socket of [from, to]) hung.add(socket.pause())
          return
        }
        write(part, gate.delayMillis)
      })
      from.on("error", () => to.destroy())
      from.on("close", () => {
        sockets.delete(from)
        to.destroy()
      })
    }
    const server = createServer({ noDelay: true }, (client) => {
      const upstream = connect({ host: hostname, port: Number(port), noDelay: true })
      forward(client, upstream, true)
      forward(upstream, client, false)
    })
    yield* Effect.acquireRelease(
      Effect.promise(() => {
        server.listen(0, "127.0.0.1")
        return once(server, "listening")
      }),
      () =>
        Effect.promise(() => {
          const closed = once(server, "close")
          server.close()
          for (const socket of sockets) socket.destroy()
          return closed
        })
    )
    const url = new URL(target)
    url.hostname = "127.0.0.1"
    // A server that listens on TCP has such an address.
    url.port = String((server.address() as AddressInfo).port)
    return {
      url: url.href,
      hang: Effect.sync(() => {
        gate.isOpen = false
        for (const socket of sockets) socket.pause()
      }),
      hangNext: Effect.sync(() => {
        gate.hangsNext = true
      }),
      resume: Effect.sync(() => {
        gate.isOpen = true
        for (const socket of sockets) if (!hung.has(socket)) socket.resume()
      }),
      delay: (millis) =>
        Effect.sync(() => {
          gate.delayMillis = millis
        })
    }
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Returns a function that writes a part after a delay, and after the parts before it, also if the delay becomes shorter. */
const makeWrite = (to: Socket) => {
  let delayed: Promise<void> | undefined
  return (part: string | Buffer, delayMillis: number): void => {
    if (delayMillis === 0 && delayed === undefined) {
      to.write(part)
      return
    }
    const before = delayed
    const written = Effect.runPromise(Effect.gen(function*() {
      yield* Effect.sleep(delayMillis)
      yield* Effect.promise(async () => before)
      to.write(part)
      if (delayed === written) delayed = undefined
    }))
    delayed = written
  }
}
