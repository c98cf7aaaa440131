/** Counts and logs the connections that a server closes because there are too many. */
import { Effect, Latch, Layer, Metric, type Scope } from "effect"
import type { Server } from "node:net"
import * as AddressConnections from "./addressConnections.ts"

/** The listener that a connection was opened to. */
type Listener = "clients" | "operators"

/** The maximum that was reached: of the listener, or of the address of the client. */
type Reason = "total" | "address"

/** Options for `layer`. */
export interface RejectedConnectionsOptions {
  readonly server: Server
  readonly listener: Listener
  /** Maximum number of open connections per client address, if there is one. */
  readonly addressMax?: number | undefined
}

/** Counts the connections while the layer lives, and logs a warning when some were closed, at most once a minute. */
export const layer = ({ addressMax, listener, server }: RejectedConnectionsOptions): Layer.Layer<never> =>
  Layer.effectDiscard(Effect.gen(function*() {
    const context = yield* Effect.context()
    const counterOf = Effect.fnUntraced(function*(reason: Reason) {
      const rejected = rejectedOf(listener, reason)
      // A counter that begins with its first connection has no increase that an alert can detect.
      yield* Metric.update(rejected, 0)
      return () => rejected.updateUnsafe(1, context)
    })
    yield* observe(server, "drop", {
      count: yield* counterOf("total"),
      warn: () =>
        Effect.logWarning("New connections are closed, because the maximum number is open", {
          listener,
          maximum: server.maxConnections
        })
    })
    if (addressMax === undefined) return
    yield* observe(server, AddressConnections.rejectedEvent, {
      count: yield* counterOf("address"),
      warn: (address) =>
        Effect.logWarning("New connections of an address are closed, because it has the maximum number", {
          listener,
          address,
          maximum: addressMax
        })
    })
  }))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Counts the events of a server. Logs a warning at most once a minute. */
const observe = Effect.fnUntraced(function*(
  server: Server,
  event: string,
  { count, warn }: { readonly count: () => void; readonly warn: (detail: unknown) => Effect.Effect<void> }
): Effect.fn.Return<void, never, Scope.Scope> {
  const isRejecting = Latch.makeUnsafe(false)
  let detail: unknown
  const onEvent = (next: unknown) => {
    count()
    detail = next
    isRejecting.openUnsafe()
  }
  yield* Effect.acquireRelease(
    Effect.sync(() => server.on(event, onEvent)),
    () => Effect.sync(() => server.off(event, onEvent))
  )
  yield* isRejecting.await.pipe(
    Effect.andThen(Effect.suspend(() => warn(detail))),
    Effect.andThen(Effect.sleep("1 minute")),
    // Not before the pause: the warning of a minute covers all connections in it.
    Effect.andThen(isRejecting.close),
    Effect.forever,
    Effect.forkScoped({ startImmediately: true })
  )
})

const rejectedOf = (listener: Listener, reason: Reason) =>
  Metric.counter("kinora_http_connections_rejected_total", {
    description:
      "Connections that were closed because the listener (total) or the address of the client (address) had its maximum number.",
    attributes: { listener, reason },
    incremental: true
  })
