/** The parts of a delivery worker. */
import type { Duration } from "effect"
import type { WebhookStore } from "../../WebhookStore.ts"
import type { Claim } from "./Claims.ts"
import type { DueEndpoints } from "./DueEndpoints.ts"
import type { Send } from "./Send.ts"
import type { Settlements } from "./Settlements.ts"
import type { Slots } from "./Slots.ts"

/** Everything that the loops of one worker share. */
export interface Parts {
  readonly lease: Duration.Duration
  readonly lookPause: Duration.Duration
  /** Milliseconds after which a send is slow. */
  readonly slowAfter: number
  readonly slots: Slots
  readonly dueEndpoints: DueEndpoints
  readonly store: WebhookStore["Service"]
  readonly claim: Claim
  readonly send: Send
  readonly settlements: Settlements
  /** Whether a drain has exceeded its grace period. */
  hasGivenUp: boolean
}
