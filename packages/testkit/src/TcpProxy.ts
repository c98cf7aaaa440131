/** A proxy between a host and its database that can stop forwarding without closing a connection, and can delay. */
import { Effect, type Scope } from "effect"
import { once } from "node:events"
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net"

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

/**
 * Listens until the scope closes: on a port, by default a free one, or on a Unix socket in a directory, as Postgres
 * does. `target` is the URL of a Postgres with a host and a port.
 */
export const make = (target: string, place: number | string = 0): Effect.Effect<TcpProxy, never, Scope.Scope> =>
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
        listen(server, place, port)
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
    return {
      url: urlOf(target, server, place),
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

/** Listens on a port, or in a directory on the socket that Postgres would have there with this port. */
const listen = (server: Server, place: number | string, port: string) =>
  typeof place === "number" ? server.listen(place, "127.0.0.1") : server.listen(`${place}/.s.PGSQL.${port}`)

/** The URL of the target, with the place at which the server listens. */
const urlOf = (target: string, server: Server, place: number | string): string => {
  const url = new URL(target)
  if (typeof place === "number") {
    url.hostname = "127.0.0.1"
    // A server that listens on TCP has such an address.
    url.port = String((server.address() as AddressInfo).port)
  } else {
    url.searchParams.set("host", place)
  }
  return url.href
}

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
