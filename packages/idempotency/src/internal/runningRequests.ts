/** Renews the leases of the requests that this process runs. */
import * as Periodic from "@kinora/persistence/Periodic"
import { Clock, Duration, Effect } from "effect"
import { IdempotencyStore } from "../IdempotencyStore.ts"
import { type Arriving, slotText } from "./claims.ts"

/**
 * Renews leases three times per `lease`, until they are dropped, `runMax` has passed, or the scope closes. A process
 * without running requests runs no statements.
 */
export const makeRunningRequests = Effect.fnUntraced(function*(lease: Duration.Duration, runMax: Duration.Duration) {
  const store = yield* IdempotencyStore
  const clock = yield* Clock.Clock
  const running = new Map<string, { readonly arriving: Arriving; readonly ends: number }>()

  const renew = Effect.gen(function*() {
    const now = yield* clock.currentTimeMillis
    for (const [token, { ends }] of running) {
      if (ends <= now) running.delete(token)
    }
    if (running.size === 0) return
    const arriving = Array.from(running.values(), ({ arriving }) => [slotText(arriving), arriving] as const)
    yield* store.renew(arriving.toSorted(([a], [b]) => a < b ? -1 : 1).map(([, arriving]) => arriving))
  }).pipe(
    Effect.catchCause((cause) => Effect.logWarning("Renewing the leases of requests failed", cause)),
    Effect.withSpan("Responses.renew")
  )

  const renewals = yield* Periodic.make({
    every: Duration.divideUnsafe(lease, 3),
    isIdle: () => running.size === 0,
    run: renew
  })

  /** Starts to renew the lease of a claim. */
  const add = (arriving: Arriving): Effect.Effect<void> =>
    Effect.map(clock.currentTimeMillis, (now) => {
      running.set(arriving.reference, { arriving, ends: now + Duration.toMillis(runMax) })
      renewals.start()
    })

  /** Stops to renew it. */
  const drop = (token: string): void => {
    running.delete(token)
  }

  return { add, drop }
})
