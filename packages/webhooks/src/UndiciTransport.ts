/**
 * Sends over HTTP/1.1, each to an address that was checked a moment before (D44).
 *
 * A connection waits a short while for the next request to the same origin, which goes
 * over it only if its address is still one that the host has. It waits less long than
 * servers do, so that it is rarely closed just when a request is written: such a request
 * is not written again, because the receiver may have taken it. No environment variable
 * names a proxy, no redirect is followed, and the body of an answer is never unpacked.
 *
 * The head of an answer decides (Endpoint requirements): what comes behind it, breaks off
 * or never ends changes no outcome, and is read only to use the connection again.
 */
import { Duration, Effect, Exit, Layer } from "effect"
import { AddressGuard, type Target } from "./AddressGuard.ts"
import type { Outcome, Reason } from "./Delivery.ts"
import * as Connection from "./internal/transport/Connection.ts"
import * as ConnectionPool from "./internal/transport/ConnectionPool.ts"
import { type Answer, type Ending, exchange } from "./internal/transport/exchange.ts"
import { Transport, type TransportRequest } from "./Transport.ts"

/** Limits, each with its default. Whoever sends bounds how many sends are under way. */
export interface UndiciTransportOptions {
  /** For all of a send: looking up, connecting, writing, and reading the answer's head. Default 10 seconds. */
  readonly timeout?: Duration.Input | undefined
  /** For what is behind the head, within the time that is left; then the connection is closed. Default 1 second. */
  readonly bodyTimeout?: Duration.Input | undefined
  /** Bytes of an answer that are read, whatever they are of; then the connection is closed. Default 64 KiB. */
  readonly answerBytesMax?: number | undefined
  /** Bytes of an answer's head. Default 16 KiB. */
  readonly headBytesMax?: number | undefined
  /** Connections that wait for their next request, of all receivers. Default 256. */
  readonly idleConnectionsMax?: number | undefined
  /** How long a connection waits for its next request. Default 1 second. */
  readonly idleTime?: Duration.Input | undefined
  /** Certificates of authorities, in PEM, that are trusted besides those that Node trusts. Default none. */
  readonly ca?: ReadonlyArray<string> | undefined
}

/** A `Transport` over the network. Closing it closes every connection. */
export const layerWith = (options: UndiciTransportOptions = {}): Layer.Layer<Transport, never, AddressGuard> =>
  Layer.effect(Transport, make(options))

/** See `layerWith`. */
export const make = Effect.fnUntraced(function*(options: UndiciTransportOptions) {
  const guard = yield* AddressGuard
  const timeout = options.timeout ?? "10 seconds"
  const bodyTimeout = options.bodyTimeout ?? "1 second"
  const pool = yield* Effect.acquireRelease(
    Effect.sync(() =>
      ConnectionPool.make({
        secureContext: Connection.makeSecureContext(options.ca ?? []),
        idleMax: options.idleConnectionsMax ?? 256,
        idleMillis: Duration.toMillis(options.idleTime ?? "1 second"),
        answerBytesMax: options.answerBytesMax ?? 64 * 1024,
        headBytesMax: options.headBytesMax ?? 16 * 1024
      })
    ),
    (pool) => Effect.sync(pool.close)
  )

  const sendOver = (
    acquire: () => Connection.Connection,
    { url }: Target,
    request: TransportRequest,
    answer: Answer
  ) =>
    Effect.acquireUseRelease(
      Effect.sync(acquire),
      (connection) => exchange(connection, url, request, answer, bodyTimeout),
      // A failure, a time limit, and an answer that was not read to its end leave it of no use.
      (connection, exit) =>
        Effect.sync(() =>
          Exit.isSuccess(exit) && exit.value === "complete" ? pool.give(connection) : connection.destroy()
        )
    )

  const sendTo = Effect.fnUntraced(function*(target: Target, request: TransportRequest, answer: Answer) {
    const open = () => pool.open(target)
    const ending = yield* sendOver(() => pool.take(target) ?? open(), target, request, answer)
    return ending === "spent" ? yield* sendOver(open, target, request, answer) : ending
  })

  return Transport.of({
    send: Effect.fn("Transport.send")(function*(request) {
      const answer: Answer = { status: null }
      return yield* guard.check(request.url).pipe(
        Effect.flatMap((target) => sendTo(target, request, answer)),
        Effect.timeoutOrElse({ duration: timeout, orElse: () => Effect.succeed("timeout" as const) }),
        Effect.map((ending) => outcomeOf(ending, answer)),
        Effect.catchTag("AddressRefused", ({ problem }) => Effect.succeed(refused(problem)))
      )
    })
  })
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const outcomeOf = (ending: Ending | "timeout", { status }: Answer): Outcome => ({
  reason: status === null ? reasonOfEnding(ending) : reasonOfStatus(status),
  httpStatus: status
})

const reasonOfStatus = (status: number): Reason => {
  if (status < 300) return "ok"
  return status < 400 ? "redirect" : `status_${status}`
}

/** Of an answer without a head. */
const reasonOfEnding = (ending: Ending | "timeout"): Reason => {
  switch (ending) {
    case "complete":
    case "cut":
      return "protocol"
    case "spent":
      return "connect"
    default:
      return ending
  }
}

const refused = (problem: string): Outcome => ({
  reason: problem === "dns" ? "dns" : "blocked_address",
  httpStatus: null
})
