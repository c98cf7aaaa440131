/**
 * The loop that finds endpoints with due deliveries: after a wake-up, when the next delivery
 * becomes due, and at the poll interval.
 */
import { Clock, DateTime, Duration, Effect, type Latch } from "effect"
import type { EndpointId } from "../../Endpoint.ts"
import { WebhookStore } from "../../WebhookStore.ts"
import { pause } from "./clock.ts"
import type { Slots } from "./Slots.ts"

/** The loop and its alarm. */
export interface DueEndpoints {
  /** Requests a poll at `time`, when a delivery becomes due. */
  readonly at: (time: DateTime.Utc) => void
  readonly loop: Effect.Effect<never>
}

/** Options for the loop. */
export interface PollOptions {
  readonly pollInterval: Duration.Duration
  readonly lookPause: Duration.Duration
}

/** Creates a loop that polls at least every `pollInterval` and whenever `wakeup` opens. */
export const make = Effect.fnUntraced(function*(
  slots: Slots,
  wakeup: Latch.Latch,
  { lookPause, pollInterval }: PollOptions
) {
  const store = yield* WebhookStore
  const interval = Duration.toMillis(pollInterval)
  /** Start of the next round, in milliseconds since 1970. */
  let nextAt = 0
  /** Last endpoint of the open round; `undefined` between rounds. */
  let seen: EndpointId | undefined

  const poll = Effect.gen(function*() {
    const now = yield* DateTime.now
    if (seen === undefined) {
      wakeup.closeUnsafe()
      nextAt = now.epochMilliseconds + interval
    }
    const page = yield* store.due(now, pageMax, seen)
    slots.list(page.endpoints)
    seen = page.endpoints.length < pageMax ? undefined : page.endpoints.at(-1)?.endpoint
    // Keeps an earlier time that `at` set meanwhile: this page may not include its delivery.
    nextAt = Math.min(nextAt, page.nextAt?.epochMilliseconds ?? Infinity)
  }).pipe(Effect.catchCause((cause) => {
    seen = undefined
    return Effect.logError("Failed to poll for due webhooks, retrying", cause)
  }))

  const rest = Effect.suspend(() => {
    if (seen !== undefined) return Effect.void
    return Effect.flatMap(
      Clock.currentTimeMillis,
      // The bound by `interval` limits the wait if the clock was set back.
      (now) => Effect.timeoutOption(wakeup.await, Math.min(interval, Math.max(0, nextAt - now)))
    )
  })

  return {
    at: ({ epochMilliseconds }) => {
      if (epochMilliseconds >= nextAt) return
      nextAt = epochMilliseconds
      // Restarts a sleep that is too long. During a poll this costs at most one extra poll.
      wakeup.openUnsafe()
    },
    loop: Effect.gen(function*() {
      const [took] = yield* Effect.timed(poll)
      // Polls take at most half of the time, and events of one burst are found together.
      yield* pause(Duration.max(Duration.min(took, pauseMax), lookPause))
      yield* rest
    }).pipe(Effect.forever)
  } satisfies DueEndpoints
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Endpoints of one page. */
const pageMax = 512

/** Longest pause after a poll, which also bounds it if the clock was set during the poll. */
const pauseMax = Duration.seconds(1)
