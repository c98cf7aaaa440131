/** A proxy between a host and its database that can stop forwarding without closing a connection, and can delay. */
import { Effect, type Scope } from "effect"
import { once } from "node:events"
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net"

/**
 * The kind of what a client sends while the server reports no open transaction: the start of a transaction, or a statement on
 * a connection that has never had a transaction. Pools that keep connections for transactions have both.
 */
export type SentKind = "transaction" | "statement"

/** A listening proxy. */
export interface TcpProxy {
  /** The URL of the target, with the address of the proxy. */
  readonly url: string
  /** Stops forwarding. Connections stay open, and new ones are accepted. */
  readonly hang: Effect.Effect<void>
  /** Stops forwarding on one connection: the next one on which the client sends. It stays open, also after `resume`. */
  readonly hangNext: Effect.Effect<void>
  /** Does the same to the next connection on which the client sends something of this kind. */
  readonly hangNextOf: (kind: SentKind) => Effect.Effect<void>
  /** Returns the number of connections of `hangNext` and `hangNextOf` that have hung so far. */
  readonly hung: Effect.Effect<number>
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
    const hanging = new Set<SentKind | "anything">()
    const gate = { isOpen: true, delayMillis: 0, hungCount: 0 }

    /** `observe` returns whether the connection hangs from now on, without this part. */
    const forward = (from: Socket, to: Socket, observe: (part: Part) => boolean) => {
      const write = makeWrite(to)
      sockets.add(from)
      if (!gate.isOpen) from.pause()
      from.on("data", (part) => {
        if (observe(part)) {
          gate.hungCount++
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
      const { received, sent } = makeTraffic()
      forward(client, upstream, (part) => {
        const kind = sent(part)
        return hanging.delete("anything") || (kind !== undefined && hanging.delete(kind))
      })
      forward(upstream, client, (part) => {
        received(part)
        return false
      })
    })
    yield* Effect.acquireRelease(listen(server, place, port), () => close(server, sockets))
    return {
      url: urlOf(target, server, place),
      hang: Effect.sync(() => {
        gate.isOpen = false
        for (const socket of sockets) socket.pause()
      }),
      hangNext: Effect.sync(() => void hanging.add("anything")),
      hangNextOf: (kind) => Effect.sync(() => void hanging.add(kind)),
      hung: Effect.sync(() => gate.hungCount),
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
  Effect.promise(() => {
    if (typeof place === "number") server.listen(place, "127.0.0.1")
    else server.listen(`${place}/.s.PGSQL.${port}`)
    return once(server, "listening")
  })

/** Closes a server and its connections. */
const close = (server: Server, sockets: Iterable<Socket>) =>
  Effect.promise(() => {
    const closed = once(server, "close")
    server.close()
    for (const socket of sockets) socket.destroy()
    return closed
  })

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

type Part = string | Buffer

/**
 * Observes a connection. `sent` returns the kind of a part of the client, unless it is the start of the connection or the
 * continuation of a transaction.
 */
const makeTraffic = () => {
  let status: number | undefined
  let hasBegun = false
  return {
    received: (part: Part): void => {
      const bytes = typeof part === "string" ? Buffer.from(part) : part
      const end = bytes.subarray(-readyForQuery.length - 1)
      if (end.subarray(0, -1).equals(readyForQuery)) status = end.at(-1)
    },
    sent: (part: Part): SentKind | undefined => {
      // A prepared `BEGIN` is sent with its text once.
      hasBegun ||= part.includes("BEGIN")
      if (status !== idle) return undefined
      return hasBegun ? "transaction" : "statement"
    }
  }
}

/** The type and the length of ReadyForQuery, which ends every response. The status of the transaction follows. */
const readyForQuery = Buffer.from([0x5a, 0, 0, 0, 5])

/** The status outside of a transaction. */
const idle = 0x49

/** Returns a function that writes a part after a delay, and after the parts before it, also if the delay becomes shorter. */
const makeWrite = (to: Socket) => {
  let delayed: Promise<void> | undefined
  return (part: Part, delayMillis: number): void => {
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
