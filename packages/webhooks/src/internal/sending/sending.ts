/** One send of a claimed delivery. */
import { type Cause, Clock, DateTime, Duration, Effect, Exit } from "effect"
import type { Outcome } from "../../Delivery.ts"
import * as Retry from "../../Retry.ts"
import { Transport } from "../../Transport.ts"
import type { Settlement } from "../../WebhookStore.ts"
import type { Sendable } from "./claiming.ts"
import * as Metrics from "./metrics.ts"
import * as requests from "./requests.ts"
import type { Slot } from "./Slots.ts"

/** How sends are made. */
export interface SendingOptions extends requests.RequestOptions {
  readonly schedule: Retry.Schedule
  readonly lease: Duration.Duration
}

/** What became of a claim. */
export type Verdict =
  | { readonly _tag: "Settled"; readonly settlement: Settlement }
  /** Nothing was sent, and not because of the endpoint: so much of the lease was gone, or no request could be made. */
  | { readonly _tag: "Unused"; readonly cause: Cause.Cause<never> | undefined }

/** Uses a claim for a send, where it may be used. A defect leaves open whether something was sent. */
export const make = Effect.fnUntraced(function*({ lease, schedule, ...options }: SendingOptions) {
  const transport = yield* Transport
  const makeRequest = yield* requests.make(options)
  const sendMax = Duration.times(lease, 0.5)

  return Effect.fnUntraced(function*(claimed: Sendable, slot: Slot) {
    const at = yield* DateTime.now
    if (!Retry.maySend(claimed, schedule)) return settled(claimed, { _tag: "Failed" }, null)
    if (claimed.endpoint.status === "disabled") {
      return settled(claimed, { _tag: "Failed" }, { at, durationMillis: 0, outcome: disabled })
    }
    // It must end before others may claim the delivery.
    if (at.epochMilliseconds + Duration.toMillis(sendMax) > slot.until) return unused()
    const request = yield* Effect.exit(makeRequest(claimed, at))
    if (Exit.isFailure(request)) return unused(request.cause)

    const began = yield* monotonicMillis
    slot.sendingSince = began
    const outcome = yield* transport.send(request.value).pipe(
      Effect.timeoutOrElse({ duration: sendMax, orElse: () => Effect.succeed(timeout) }),
      Metrics.hold
    )
    const endedAt = yield* DateTime.now
    const durationMillis = Math.round((yield* monotonicMillis) - began)
    yield* Metrics.sent({
      reason: outcome.reason,
      duration: durationMillis,
      delay: at.epochMilliseconds - claimed.dueAt.epochMilliseconds
    })
    return settled(claimed, Retry.after(claimed, outcome, endedAt, schedule), { at, durationMillis, outcome })
  })
})

/** What durations are measured with: the wall clock may be set while a send is under way. */
export const monotonicMillis: Effect.Effect<number> = Effect.map(
  Clock.monotonicTimeNanos,
  (nanos) => Number(nanos) / 1_000_000
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const disabled: Outcome = { reason: "disabled", httpStatus: null }

const timeout: Outcome = { reason: "timeout", httpStatus: null }

const settled = (
  { attempt, claims, delivery }: Sendable,
  next: Settlement["next"],
  send: Omit<NonNullable<Settlement["send"]>, "attempt"> | null
): Verdict => ({
  _tag: "Settled",
  settlement: { delivery, claims, next, send: send === null ? null : { ...send, attempt } }
})

const unused = (cause?: Cause.Cause<never>): Verdict => ({ _tag: "Unused", cause })
