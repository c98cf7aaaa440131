/** The settlement of a set of claims, with the lines that it adds to the logs. */
import * as Decision from "@kinora/persistence/Decision"
import { DateTime, HashMap, Option } from "effect"
import type { DeliveryId } from "../../Delivery.ts"
import type { EndpointId } from "../../Endpoint.ts"
import type { Settlement } from "../../WebhookStore.ts"
import { byText, type DeliveryState } from "./deliveryRules.ts"
import * as DeliveryRules from "./deliveryRules.ts"
import { changeDelivery, type LoggedSend, type Outbox, sendsOf } from "./Outbox.ts"

/** Logs all sends, and applies the settlements whose claims still hold. */
export const settle = (
  outbox: Outbox,
  settlements: ReadonlyArray<Settlement>
): Decision.DecidedAll<Outbox, DeliveryId, "ClaimLost" | "NotFound"> =>
  Decision.all(
    track(log(outbox, settlements), linesOf(outbox, settlements)),
    settlements,
    (outbox, settlement) =>
      changeDelivery(outbox, settlement.delivery, (delivery) => DeliveryRules.settle(delivery, settlement))
  )

/** Orders the lines of a log, newest first. */
export const newestFirst = (a: LoggedSend, b: LoggedSend): number =>
  DateTime.Order(b.at, a.at) || byText(b.delivery, a.delivery) || b.claims - a.claims

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Adds the lines of a set, each once. Whether a line is a repeated `disabled` depends on the log before the set. */
const log = (outbox: Outbox, settlements: ReadonlyArray<Settlement>): Outbox => {
  const byEndpoint = Map.groupBy(linesOf(outbox, settlements), ({ endpoint }) => endpoint)
  const changed = Array.from(byEndpoint, ([endpoint, lines]) => {
    const known = sendsOf(outbox, endpoint)
    const first = known[0]?.reason === "disabled" ? undefined : firstDisabled(lines)
    const added = lines
      .map(({ line }) => line)
      .filter((line) => line.reason !== "disabled" || line === first)
      .filter((line) => !known.some((other) => isSame(other, line)))
    return [endpoint, [...known, ...added].toSorted(newestFirst)] as const
  })
  return { ...outbox, sends: HashMap.setMany(outbox.sends, changed) }
}

/** Stores the first failure of endpoints, and forgets it at a success. A set with both is a success. */
const track = (outbox: Outbox, lines: ReadonlyArray<EndpointLine>): Outbox => ({
  ...outbox,
  failing: HashMap.mutate(outbox.failing, (failing) => {
    const sends = lines.filter(({ line }) => line.reason !== "disabled")
    for (const [endpoint, of] of Map.groupBy(sends, ({ endpoint }) => endpoint)) {
      if (of.some(({ line }) => line.reason === "ok")) HashMap.remove(failing, endpoint)
      else if (HashMap.has(outbox.endpoints, endpoint) && !HashMap.has(failing, endpoint)) {
        HashMap.set(failing, endpoint, of.map(({ line }) => line.at).reduce(DateTime.min))
      }
    }
  })
})

interface EndpointLine {
  readonly endpoint: EndpointId
  readonly line: LoggedSend
}

const linesOf = (outbox: Outbox, settlements: ReadonlyArray<Settlement>): ReadonlyArray<EndpointLine> =>
  settlements.flatMap((settlement) => {
    const delivery = HashMap.get(outbox.deliveries, settlement.delivery)
    return Option.isNone(delivery) ? [] : lineOf(delivery.value, settlement)
  })

const lineOf = ({ endpoint, type }: DeliveryState, { claims, delivery, send }: Settlement) => {
  if (send === null) return []
  const { outcome, ...rest } = send
  return [{ endpoint, line: { ...rest, ...outcome, delivery, type, claims } }]
}

/** The `disabled` line of a set that is logged: the one with the lowest id. */
const firstDisabled = (lines: ReadonlyArray<EndpointLine>): LoggedSend | undefined =>
  lines
    .map(({ line }) => line)
    .filter(({ reason }) => reason === "disabled")
    .toSorted((a, b) => byText(a.delivery, b.delivery) || a.claims - b.claims)[0]

const isSame = (a: LoggedSend, b: LoggedSend): boolean => a.delivery === b.delivery && a.claims === b.claims
