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
    const gate = { isOpen: true, delayMillis: 0 }

    const forward = (from: Socket, to: Socket) => {
      sockets.add(from)
      if (!gate.isOpen) from.pause()
      from.on("data", (part) => {
        if (gate.delayMillis === 0) return void to.write(part)
        // Timers of equal length end in the order in which they started.
        void Effect.runPromise(Effect.sleep(gate.delayMillis)).then(() => to.write(part))
      })
      from.on("error", () => to.destroy())
      from.on("close", () => {
        sockets.delete(from)
        to.destroy()
      })
    }
    const server = createServer({ noDelay: true }, (client) => {
      const upstream = connect({ host: hostname, port: Number(port), noDelay: true })
      forward(client, upstream)
      forward(upstream, client)
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
      resume: Effect.sync(() => {
        gate.isOpen = true
        for (const socket of sockets) socket.resume()
      }),
      delay: (millis) =>
        Effect.sync(() => {
          gate.delayMillis = millis
        })
    }
  })
