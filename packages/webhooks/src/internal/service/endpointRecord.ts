/** Access to the stored record of one endpoint. */
import type { Decision } from "@kinora/persistence/Decision"
import { Effect, Result } from "effect"
import type { EndpointId } from "../../Endpoint.ts"
import { EndpointNotFound, type WebhooksErrorReason } from "../../WebhooksError.ts"
import type { EndpointRecord } from "../../WebhookStore.ts"
import type { Dependencies } from "./Dependencies.ts"
import { orRefuse, refuse } from "./refusal.ts"

/** Returns an endpoint of the account. */
export const getEndpoint = Effect.fnUntraced(function*({ store }: Dependencies, account: string, id: EndpointId) {
  const found = (yield* store.findEndpoints([account])).find((endpoint) => endpoint.id === id)
  return found ?? (yield* refuse(new EndpointNotFound({ endpoint: id })))
})

/** Loads an endpoint of the account, decides on it, and saves the new state. */
export const changeEndpoint = <A>(
  { store, unitOfWork }: Dependencies,
  account: string,
  id: EndpointId,
  decide: (record: EndpointRecord) => Decision<EndpointRecord, A, WebhooksErrorReason>
) =>
  Effect.gen(function*() {
    const record = yield* store.loadEndpoint(account, id)
    if (record === undefined) return Result.fail(new EndpointNotFound({ endpoint: id }))
    const decided = decide(record)
    if (Result.isSuccess(decided)) yield* store.saveEndpoint(decided.success.state)
    return Result.map(decided, ({ value }) => value)
  }).pipe(
    unitOfWork.atomically,
    // A refusal leaves the unit as a value, because a failure would doom an open unit.
    Effect.flatMap(orRefuse)
  )
