/** The claim of due deliveries of several endpoints. */
import { accept, type Decision } from "@kinora/persistence/Decision"
import { type DateTime, HashMap, Option, Result } from "effect"
import type { Claimed } from "../../Delivery.ts"
import type { Demand, EndpointRecord } from "../../WebhookStore.ts"
import { byDueAt, type ClaimMade, type DeliveryState, isDue } from "./deliveryRules.ts"
import * as DeliveryRules from "./deliveryRules.ts"
import { activeAt } from "./endpointRules.ts"
import { type EventState, type Outbox, pendingOf, putDeliveries } from "./Outbox.ts"

/** A claim command. */
export interface ClaimCommand {
  readonly demands: ReadonlyArray<Demand>
  readonly now: DateTime.Utc
  /** End of the lease. */
  readonly until: DateTime.Utc
  /** Bytes of events and bodies. A single delivery may exceed them. */
  readonly bytesMax: number
}

/**
 * Claims the deliveries of each endpoint that have been due longest. The first delivery of each
 * endpoint comes before the second of any, in the order of the demands, until `bytesMax` is
 * reached.
 */
export const claim = (outbox: Outbox, command: ClaimCommand): Decision<Outbox, ReadonlyArray<Claimed>> => {
  const states: Array<DeliveryState> = []
  const claimed: Array<Claimed> = []
  for (const { delivery, event, record } of fitting(candidates(outbox, command), command.bytesMax)) {
    const decided = DeliveryRules.claim(delivery, command)
    if (Result.isFailure(decided)) continue
    states.push(decided.success.state)
    claimed.push(claimedOf(decided.success.state, decided.success.value, record, event, command.now))
  }
  return accept(putDeliveries(outbox, states), claimed)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface Candidate {
  readonly delivery: DeliveryState
  readonly event: EventState
  readonly record: EndpointRecord
  /** Its place among the candidates of its endpoint. */
  readonly turn: number
}

const candidates = (outbox: Outbox, { demands, now }: ClaimCommand): ReadonlyArray<Candidate> =>
  demands.flatMap(({ endpoint, limit }) => {
    const record = Option.getOrUndefined(HashMap.get(outbox.endpoints, endpoint))
    return record === undefined ? [] : pendingOf(outbox, endpoint)
      .filter((delivery) => isDue(delivery, now))
      .toSorted(byDueAt)
      .slice(0, limit)
      .map((delivery, turn) => ({
        delivery,
        event: HashMap.getUnsafe(outbox.events, delivery.event),
        record,
        turn
      }))
  }).toSorted((a, b) => a.turn - b.turn)

const fitting = (all: ReadonlyArray<Candidate>, bytesMax: number): ReadonlyArray<Candidate> => {
  let bytes = 0
  return all.filter(({ delivery, event }, index) => {
    bytes += event.dataBytes + (delivery.body?.length ?? 0)
    return index === 0 || bytes <= bytesMax
  })
}

const claimedOf = (
  { body, failedSends }: DeliveryState,
  made: ClaimMade,
  { endpoint, secrets }: EndpointRecord,
  { event }: EventState,
  now: DateTime.Utc
): Claimed => ({ ...made, endpoint, secrets: activeAt(secrets, now), event, failedSends, body })
