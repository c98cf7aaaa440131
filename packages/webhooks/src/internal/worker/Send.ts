/** One send of a claimed delivery. */
import * as Deadlines from "@kinora/persistence/Deadlines"
import { type Cause, DateTime, Duration, Effect, Exit } from "effect"
import type { Outcome } from "../../Delivery.ts"
import type { Schedule } from "../../Retry.ts"
import { Transport } from "../../Transport.ts"
import type { Settlement } from "../../WebhookStore.ts"
import * as Retry from "../rules/retry.ts"
import type { Sendable } from "./Claims.ts"
import { monotonicMillis } from "./clock.ts"
import * as Metrics from "./metrics.ts"
import * as SignedRequest from "./SignedRequest.ts"
import type { Slot } from "./Slots.ts"

/** Options for sends. */
export interface SendOptions extends SignedRequest.RequestOptions {
  readonly schedule: Schedule
  readonly lease: Duration.Duration
}

/** Result of a claim. */
export type Verdict =
  | { readonly _tag: "Settled"; readonly settlement: Settlement }
  /** No request was made, because too little of the lease was left, or because making it failed with `cause`. */
  | { readonly _tag: "Unused"; readonly cause: Cause.Cause<never> | undefined }

/** Sends a claimed delivery, if it may be sent. After a defect it is unknown whether a request was made. */
export type Send = (claimed: Sendable, slot: Slot) => Effect.Effect<Verdict>

/** Creates the send of a worker in the surrounding scope. */
export const make = Effect.fnUntraced(function*({ lease, schedule, ...options }: SendOptions) {
  const transport = yield* Transport
  const makeRequest = yield* SignedRequest.make(options)
  const sendMax = Duration.times(lease, 0.5)
  const deadlines = yield* Deadlines.make(sendMax)

  return Effect.fnUntraced(function*(claimed: Sendable, slot: Slot): Effect.fn.Return<Verdict> {
    const at = yield* DateTime.now
    if (!Retry.maySend(claimed, schedule)) return settled(claimed, { _tag: "Failed" }, null)
    if (claimed.endpoint.status === "disabled") {
      return settled(claimed, { _tag: "Failed" }, { at, durationMillis: 0, outcome: disabled })
    }
    // The send must end before another worker may claim the delivery.
    if (at.epochMilliseconds + Duration.toMillis(sendMax) > slot.until) return unused()
    const request = yield* Effect.exit(makeRequest(claimed, at))
    if (Exit.isFailure(request)) return unused(request.cause)

    const began = yield* monotonicMillis
    slot.sendingSince = began
    const outcome = yield* Metrics.trackInFlight(deadlines.within(transport.send(request.value), timeout))
    const endedAt = yield* DateTime.now
    const durationMillis = Math.round((yield* monotonicMillis) - began)
    yield* Metrics.recordSend({
      reason: outcome.reason,
      duration: durationMillis,
      delay: at.epochMilliseconds - claimed.dueAt.epochMilliseconds
    })
    return settled(claimed, Retry.after(claimed, outcome, endedAt, schedule), { at, durationMillis, outcome })
  })
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const disabled: Outcome = { reason: "disabled", httpStatus: null }

const timeout = Effect.succeed<Outcome>({ reason: "timeout", httpStatus: null })

const settled = (
  { attempt, body, claims, delivery, isStored }: Sendable,
  next: Settlement["next"],
  send: Omit<NonNullable<Settlement["send"]>, "attempt"> | null
): Verdict => ({
  _tag: "Settled",
  settlement: {
    delivery,
    claims,
    next,
    send: send === null ? null : { ...send, attempt },
    body: isStored || next._tag !== "Again" ? undefined : body
  }
})

const unused = (cause?: Cause.Cause<never>): Verdict => ({ _tag: "Unused", cause })
