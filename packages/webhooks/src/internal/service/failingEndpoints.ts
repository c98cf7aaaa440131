/** The method of `Webhooks` that disables endpoints whose sends fail. */
import { DateTime, Duration, Effect, Result } from "effect"
import { disabledType } from "../../Event.ts"
import type { FailingEndpoint } from "../../WebhookStore.ts"
import * as EndpointRules from "../rules/endpointRules.ts"
import type { Dependencies } from "./Dependencies.ts"
import { publish } from "./events.ts"

/** The method of `Webhooks` for failing endpoints. */
export const methods = (self: Dependencies) => ({
  disableFailing: Effect.fn("Webhooks.disableFailing")((limit: number) => disableFailing(self, limit))
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The maximum number of endpoints of a unit of work, so that it is short. */
const setMax = 20

/** Disables endpoints in units of work of a limited size. */
const disableFailing = Effect.fnUntraced(function*(self: Dependencies, limit: number) {
  if (!Duration.isFinite(self.limits.disableAfter)) return 0
  let total = 0
  while (total < limit) {
    const size = Math.min(setMax, limit - total)
    const disabled = yield* disableSet(self, size)
    total += disabled
    if (disabled < size) break
  }
  return total
})

const disableSet = (self: Dependencies, limit: number) =>
  Effect.gen(function*() {
    const failing = yield* self.store.lockFailing(self.limits.disableAfter, limit)
    yield* Effect.forEach(failing, (endpoint) => disable(self, endpoint), { discard: true })
    return failing.length
  }).pipe(self.unitOfWork.atomically)

/** Disables a locked endpoint, and publishes that to the other endpoints of its account. */
const disable = Effect.fnUntraced(function*(self: Dependencies, { account, id, since }: FailingEndpoint) {
  const record = yield* self.store.loadEndpoint(account, id)
  if (record === undefined) return
  const decided = EndpointRules.update(record, { status: "disabled", types: undefined, url: undefined })
  const { state, value } = Result.merge(decided)
  yield* self.store.saveEndpoint(state)
  const data = { endpoint: id, url: value.url, failing_since: DateTime.formatIso(since) }
  yield* publish(self, [{ account, type: disabledType, data }])
})
