/**
 * A `Transport` over HTTP/1.1. It connects only to addresses that `AddressGuard` checked for
 * the same request.
 *
 * An idle connection is reused for the same origin if the host still has its address. It is
 * closed earlier than servers close theirs, so that a server rarely closes it while a request
 * is written: such a request is not repeated, because the receiver may have processed it. Proxy
 * variables of the environment are ignored, redirects are not followed, and response bodies are
 * not decompressed.
 *
 * The status decides the outcome as soon as the response head is complete. The body of the
 * response is read only to reuse the connection.
 */
import { AddressGuard, type Target } from "@kinora/address-guard/AddressGuard"
import * as Deadlines from "@kinora/persistence/Deadlines"
import { Duration, Effect, Exit, Layer } from "effect"
import type { Outcome, Reason } from "./Delivery.ts"
import { ifTraced } from "./internal/ifTraced.ts"
import * as Connection from "./internal/transport/Connection.ts"
import * as ConnectionPool from "./internal/transport/ConnectionPool.ts"
import { type Answer, type Ending, exchange } from "./internal/transport/exchange.ts"
import { Transport, type TransportRequest } from "./Transport.ts"

/** Time limit of a send, unless an option sets it. */
export const timeoutDefault = Duration.seconds(10)

/** Options for `UndiciTransport.layerWith`. The caller limits the number of concurrent sends. */
export interface UndiciTransportOptions {
  /** Time limit of a send: resolve, connect, write and read the response head. Default 10 seconds. */
  readonly timeout?: Duration.Input | undefined
  /** Time limit for the response body, within `timeout`. The connection is closed after it. Default 1 second. */
  readonly bodyTimeout?: Duration.Input | undefined
  /** Bytes of a response, head included. The connection is closed after them. Default 64 KiB. */
  readonly answerBytesMax?: number | undefined
  /** Bytes of a response head. Default 16 KiB. */
  readonly headBytesMax?: number | undefined
  /** Idle connections to all receivers. Default 256. */
  readonly idleConnectionsMax?: number | undefined
  /** How long an idle connection stays open. Default 1 second. */
  readonly idleTime?: Duration.Input | undefined
  /** Certificate authorities (PEM) trusted in addition to those of Node. Default none. */
  readonly ca?: ReadonlyArray<string> | undefined
}

/** Provides a `Transport` over the network. Its scope closes every connection. */
export const layerWith = (options: UndiciTransportOptions = {}): Layer.Layer<Transport, never, AddressGuard> =>
  Layer.effect(Transport, make(options))

/** Creates the transport in the surrounding scope. */
export const make = Effect.fnUntraced(function*(options: UndiciTransportOptions) {
  const guard = yield* AddressGuard
  const deadlines = yield* Deadlines.make(options.timeout ?? timeoutDefault)
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
    acquire: Effect.Effect<Connection.Connection>,
    { url }: Target,
    request: TransportRequest,
    answer: Answer
  ) =>
    Effect.acquireUseRelease(
      acquire,
      (connection) => exchange(connection, url, request, answer, bodyTimeout),
      // A connection can be reused only if the response was read to its end.
      (connection, exit) =>
        Effect.sync(() =>
          Exit.isSuccess(exit) && exit.value === "complete" ? pool.give(connection) : connection.destroy()
        )
    )

  const sendTo = Effect.fnUntraced(function*(target: Target, request: TransportRequest, answer: Answer) {
    const open = pool.open(target)
    const idleOrOpen = Effect.suspend(() => {
      const idle = pool.take(target)
      return idle === undefined ? open : Effect.succeed(idle)
    })
    const ending = yield* sendOver(idleOrOpen, target, request, answer)
    return ending === "spent" ? yield* sendOver(open, target, request, answer) : ending
  })

  return Transport.of({
    send: Effect.fnUntraced(function*(request) {
      const answer: Answer = { status: null }
      const sending = Effect.flatMap(guard.check(request.url), (target) => sendTo(target, request, answer))
      return yield* deadlines.within(sending, timeout).pipe(
        Effect.map((ending) => outcomeOf(ending, answer)),
        Effect.catchTag("AddressRefused", ({ problem }) => Effect.succeed(refused(problem)))
      )
    }, ifTraced(Effect.withSpan("Transport.send", {}, { captureStackTrace: false })))
  })
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const timeout = Effect.succeed("timeout" as const)

const outcomeOf = (ending: Ending | "timeout", { status }: Answer): Outcome => ({
  reason: status === null ? reasonOfEnding(ending) : reasonOfStatus(status),
  httpStatus: status
})

const reasonOfStatus = (status: number): Reason => {
  if (status < 300) return "ok"
  return status < 400 ? "redirect" : `status_${status}`
}

/** Reason of a send that ended before the response head was complete. */
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
