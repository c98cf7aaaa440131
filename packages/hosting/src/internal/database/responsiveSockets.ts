/**
 * Connections to Postgres that end when the server stops responding.
 *
 * The driver has no time limit for a response. A server that hangs, or a proxy in front of it that stops forwarding,
 * still acknowledges every packet, so keep-alive finds nothing, and `statement_timeout` is a limit of the server. Without
 * a limit here, statements would wait for ever and occupy all connections of the pool.
 */
import { Duration, Effect, Redacted } from "effect"
import { connect, type Socket } from "node:net"
import { Duplex } from "node:stream"

/** Options for `make`. */
export interface ResponsiveSocketsOptions {
  readonly url: Redacted.Redacted
  /** Time without a response after which a connection ends. Longer than the server works on a statement. */
  readonly silenceMax: Duration.Duration
  /** Idle time before the kernel probes the peer. */
  readonly keepAlive: Duration.Duration
  /** Returns whether silent connections are kept, since the server works on a statement. Default: no. */
  readonly isWorking?: Effect.Effect<boolean> | undefined
}

/** Returns a function that opens a connection. Connections are observed until the scope closes. */
export const make = Effect.fnUntraced(function*(options: ResponsiveSocketsOptions) {
  const { isWorking = Effect.succeed(false), keepAlive, silenceMax, url } = options
  const address = new URL(Redacted.value(url))
  const place = placeOf(address)
  const usesTls = (address.searchParams.get("sslmode") ?? "disable") !== "disable"
  const observed = new Map<Socket, Observed>()
  const count = Effect.sync(() => {
    for (const [socket, state] of observed) {
      state.quietChecks++
      state.silentChecks = socket.bytesWritten > state.answered ? state.silentChecks + 1 : 0
    }
  })
  const isSilent = Effect.sync(() => Array.from(observed.values()).some(({ silentChecks }) => silentChecks > checks))
  const keep = Effect.sync(() => {
    for (const state of observed.values()) state.silentChecks = state.quietChecks = 0
  })
  const end = Effect.sync(() => {
    // The idle ones too, since statements that are sent on them would wait for as long again.
    const error = new Error(`Postgres has not responded for ${Duration.format(silenceMax)}`)
    for (const [socket, { quietChecks }] of observed) if (quietChecks > checks) socket.destroy(error)
  })
  const check = Effect.gen(function*() {
    yield* count
    if (!(yield* isSilent)) return
    if (yield* isWorking) return yield* keep
    // Not if the response arrived while the server was asked.
    if (yield* isSilent) yield* end
  })
  const interval = Duration.divideUnsafe(silenceMax, checks)
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(interval), check)))
  return (): Duplex => {
    const socket = connect({
      ...place,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: Duration.toMillis(keepAlive)
    })
    const state: Observed = { answered: 0, silentChecks: 0, quietChecks: 0 }
    observed.set(socket, state)
    socket.on("data", () => {
      state.answered = socket.bytesWritten
      state.silentChecks = 0
      state.quietChecks = 0
    })
    socket.once("close", () => observed.delete(socket))
    return usesTls ? streamOver(socket) : socket
  }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/**
 * Checks of a connection within the longest silence. Counting checks instead of comparing times ends no connection
 * because this process was suspended, or busy, while the response arrived.
 */
const checks = 20

/** A connection. */
interface Observed {
  /** Bytes that had been sent when the last response arrived. A response to further ones is outstanding. */
  answered: number
  /** Consecutive checks that found a response outstanding. */
  silentChecks: number
  /** Checks since the last response. */
  quietChecks: number
}

/**
 * Returns a stream over a socket. TLS over a socket takes its handle, so that the socket counts no bytes and emits no
 * data; TLS over a stream reads and writes through it.
 */
const streamOver = (socket: Socket): Duplex => {
  const stream = new Duplex({
    read: () => void socket.resume(),
    write: (part, _, done) => void socket.write(part, done),
    final: (done) => void socket.end(done),
    destroy: (error, done) => {
      socket.destroy()
      done(error)
    }
  })
  socket.on("data", (part) => {
    if (!stream.push(part)) socket.pause()
  })
  socket.once("end", () => stream.push(null))
  socket.once("error", (error) => stream.destroy(error))
  socket.once("close", () => stream.destroy())
  return stream
}

/** Host and port of the server, or the path of its Unix socket, as the driver reads them. */
const placeOf = ({ hostname, port: given, searchParams }: URL) => {
  const host = searchParams.get("host") ?? (decodeURIComponent(hostname.replace(/^\[(.*)\]$/, "$1")) || "localhost")
  const port = Number(searchParams.get("port") ?? (given || 5432))
  return host.startsWith("/") ? { path: `${host}/.s.PGSQL.${port}` } : { host, port }
}
