/** Listens for notifications on a client of a pool of `pg`. */
import { Cause, Effect, Queue, type Scope } from "effect"
import type { SqlError } from "effect/sql"
import { processWide } from "./processWide.ts"
import { fromDriver } from "./sqlError.ts"

/** The used part of a client that listens. */
interface ListeningClient {
  on(event: "notification", listener: (notification: Notification) => void): unknown
  on(event: "error", listener: (error: Error) => void): unknown
  on(event: "end", listener: () => void): unknown
  release(destroy: boolean): void
}

/** A notification, as `pg` delivers it. */
interface Notification {
  readonly channel: string
  readonly payload?: string | undefined
}

/** Number of notifications that wait to be read. Later ones replace the oldest. */
const heldMax = 1_024

/** A pool, with the number of clients that it can have at most. */
interface LimitedPool {
  readonly options?: { readonly max?: number | undefined } | undefined
}

/**
 * Returns the function that listens to a channel until its scope closes, on a client of its own, which the scope closes. The
 * queue fails if the connection is lost. Fails if all other clients of the pool listen already, since statements need one.
 */
export const make = <Client extends ListeningClient>(
  pool: LimitedPool,
  connect: Effect.Effect<Client, SqlError.SqlError>,
  query: (client: Client, text: string) => Promise<unknown>
) =>
  Effect.fnUntraced(function*(
    channel: string
  ): Effect.fn.Return<
    Queue.Dequeue<{ readonly payload: string }, SqlError.SqlError>,
    SqlError.SqlError,
    Scope.Scope
  > {
    yield* Effect.acquireRelease(takePlace(pool), () => Effect.sync(() => count(pool, -1)))
    const queue = yield* Queue.sliding<{ readonly payload: string }, SqlError.SqlError>(heldMax)
    const lost = (error: Error) => void Queue.failCauseUnsafe(queue, Cause.fail(fromDriver(error)))
    // Its listeners stay, since an error without one would end the process.
    const client = yield* Effect.acquireRelease(connect, (client) => Effect.sync(() => client.release(true)), {
      interruptible: true
    })
    client.on("error", lost)
    client.on("end", () => lost(new Error("The connection has ended")))
    client.on("notification", (notification) => {
      if (notification.channel === channel) Queue.offerUnsafe(queue, { payload: notification.payload ?? "" })
    })
    yield* Effect.tryPromise({
      try: () => query(client, `LISTEN "${channel.replaceAll("\"", "\"\"")}"`),
      catch: fromDriver
    })
    return queue
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Returns the number of clients that listen, by pool, which several programs of a process can share. */
const listening = () => processWide("listening", () => new WeakMap<object, number>())

const count = (pool: LimitedPool, change: number): void => {
  listening().set(pool, (listening().get(pool) ?? 0) + change)
}

const takePlace = (pool: LimitedPool) =>
  Effect.suspend(() => {
    if ((listening().get(pool) ?? 0) + 1 >= (pool.options?.max ?? Infinity)) {
      return Effect.fail(fromDriver(new Error("Listening would leave no client of the pool to statements")))
    }
    return Effect.sync(() => count(pool, 1))
  })
