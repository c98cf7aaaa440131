/** Counts and logs the connections that a server closes because it has its maximum number of connections. */
import { Effect, Latch, Layer, Metric } from "effect"
import type { Server } from "node:net"

/** The listener that a connection was opened to. */
export type Listener = "clients" | "operators"

/** Counts the connections while the layer lives, and logs a warning when some were closed, at most once a minute. */
export const layer = (server: Server, listener: Listener): Layer.Layer<never> =>
  Layer.effectDiscard(Effect.gen(function*() {
    const context = yield* Effect.context()
    const rejected = rejectedOf(listener)
    // A counter that begins with its first connection has no increase that an alert can detect.
    yield* Metric.update(rejected, 0)
    const isRejecting = Latch.makeUnsafe(false)
    const onDrop = () => {
      rejected.updateUnsafe(1, context)
      isRejecting.openUnsafe()
    }
    yield* Effect.acquireRelease(
      Effect.sync(() => server.on("drop", onDrop)),
      () => Effect.sync(() => server.off("drop", onDrop))
    )
    const warn = Effect.logWarning("New connections are closed, because the maximum number is open", {
      listener,
      maximum: server.maxConnections
    })
    yield* isRejecting.await.pipe(
      Effect.andThen(warn),
      Effect.andThen(Effect.sleep("1 minute")),
      // Not before the pause: the warning of a minute covers all connections in it.
      Effect.andThen(isRejecting.close),
      Effect.forever,
      Effect.forkScoped({ startImmediately: true })
    )
  }))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const rejectedOf = (listener: Listener) =>
  Metric.counter("kinora_http_connections_rejected_total", {
    description: "Connections that were closed because the listener had its maximum number of connections.",
    attributes: { listener },
    incremental: true
  })
