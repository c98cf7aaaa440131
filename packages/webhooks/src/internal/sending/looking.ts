/** Finds the endpoints that have something due: when it is told so, when the next delivery is due, and now and then. */
import { Clock, DateTime, Duration, Effect, type Latch } from "effect"
import type { EndpointId } from "../../Endpoint.ts"
import { WebhookStore } from "../../WebhookStore.ts"
import { pause } from "./pause.ts"
import type { Slots } from "./Slots.ts"

/** See the module. */
interface Looking {
  /** Something is due then. */
  readonly at: (time: DateTime.Utc) => void
  readonly loop: Effect.Effect<never>
}

/** How often to look. */
export interface LookingOptions {
  readonly pollInterval: Duration.Duration
  readonly lookPause: Duration.Duration
}

/** Looks at least every `pollInterval`, and whenever the wake-up opens. */
export const make = Effect.fnUntraced(function*(
  slots: Slots,
  wakeup: Latch.Latch,
  { lookPause, pollInterval }: LookingOptions
) {
  const store = yield* WebhookStore
  const poll = Duration.toMillis(pollInterval)
  /** When to begin the next round, in milliseconds since 1970. */
  let nextAt = 0
  /** The last endpoint that this round has seen; `undefined`: no round is open. */
  let seen: EndpointId | undefined

  const look = Effect.gen(function*() {
    const now = yield* DateTime.now
    if (seen === undefined) {
      wakeup.closeUnsafe()
      nextAt = now.epochMilliseconds + poll
    }
    const page = yield* store.due(now, pageMax, seen)
    slots.list(page.endpoints)
    seen = page.endpoints.length < pageMax ? undefined : page.endpoints.at(-1)?.endpoint
    // What was set meanwhile stands: this page may not show it.
    nextAt = Math.min(nextAt, page.nextAt?.epochMilliseconds ?? Infinity)
  }).pipe(Effect.catchCause((cause) => {
    seen = undefined
    return Effect.logError("Looking for webhooks that are due failed; it is tried again", cause)
  }))

  const rest = Effect.suspend(() => {
    if (seen !== undefined) return Effect.void
    return Effect.flatMap(
      Clock.currentTimeMillis,
      // The clock may have been set back since.
      (now) => Effect.timeoutOption(wakeup.await, Math.min(poll, Math.max(0, nextAt - now)))
    )
  })

  return {
    at: ({ epochMilliseconds }) => {
      if (epochMilliseconds >= nextAt) return
      nextAt = epochMilliseconds
      // It sleeps for too long, or is looking just now; in that case it may look once too often.
      wakeup.openUnsafe()
    },
    loop: Effect.gen(function*() {
      const [took] = yield* Effect.timed(look)
      // At most half of the time is spent on looking, and what is published in a burst is found together.
      yield* pause(Duration.max(Duration.min(took, pauseMax), lookPause))
      yield* rest
    }).pipe(Effect.forever)
  } satisfies Looking
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Endpoints that one look lists. */
const pageMax = 512

/** However long a look took, or seems to have taken because the clock was set. */
const pauseMax = Duration.seconds(1)
