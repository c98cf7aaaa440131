/**
 * The methods of `Webhooks` that register, change and remove endpoints. They resolve hosts and
 * encrypt secrets before the unit of work that writes, because both take time.
 */
import { DateTime, Effect, Result } from "effect"
import { SecureRandom } from "effect/crypto"
import { type Endpoint, EndpointId, type EndpointStatus } from "../../Endpoint.ts"
import { EndpointNotFound } from "../../WebhooksError.ts"
import type { EndpointRecord } from "../../WebhookStore.ts"
import * as EndpointRules from "../rules/endpointRules.ts"
import type { Dependencies } from "./Dependencies.ts"
import { changeEndpoint, getEndpoint } from "./endpointRecord.ts"
import { checkTypes } from "./eventTypes.ts"
import { orRefuse, refuse } from "./refusal.ts"
import { issueSecret } from "./secrets.ts"

/** An endpoint to register. */
export interface NewEndpoint {
  readonly url: string
  /** Event types to send; all if `null` or absent. */
  readonly types?: ReadonlyArray<string> | null | undefined
}

/** Changes to an endpoint. Absent fields stay. */
export interface EndpointChange {
  readonly url?: string | undefined
  readonly types?: ReadonlyArray<string> | null | undefined
  readonly status?: EndpointStatus | undefined
}

/** The methods of `Webhooks` for endpoints. */
export const methods = (self: Dependencies) => ({
  create: Effect.fn("Webhooks.create")((account: string, endpoint: NewEndpoint) => create(self, account, endpoint)),
  list: Effect.fn("Webhooks.list")((account: string) => self.store.findEndpoints([account])),
  get: Effect.fn("Webhooks.get")((account: string, id: EndpointId) => getEndpoint(self, account, id)),
  update: Effect.fn("Webhooks.update")((account: string, id: EndpointId, change: EndpointChange) =>
    update(self, account, id, change)
  ),
  remove: Effect.fn("Webhooks.remove")(function*(account: string, id: EndpointId) {
    if (!(yield* removeFound(self, account, id))) return yield* refuse(new EndpointNotFound({ endpoint: id }))
  })
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const create = Effect.fnUntraced(function*(self: Dependencies, account: string, { types, url }: NewEndpoint) {
  const { limits, store } = self
  const checkedTypes = yield* orRefuse(checkTypes(types ?? null, limits))
  // Checked here to avoid resolving the host if the limit is reached. `insert` checks again in its unit of work.
  yield* orRefuse(EndpointRules.checkRoom((yield* store.findEndpoints([account])).length, limits))
  const checkedUrl = yield* checkUrl(self, url)
  const id = yield* Effect.provideService(EndpointId.make, SecureRandom.SecureRandom, self.random)
  const { sealed, secret } = yield* issueSecret(self, id)
  const at = yield* DateTime.now
  const endpoint: Endpoint = {
    id,
    account,
    url: checkedUrl,
    types: checkedTypes,
    status: "enabled",
    createdAt: at,
    secretCreatedAt: at
  }
  yield* Effect.flatMap(
    insert(self, { endpoint, secrets: [{ sealed, createdAt: at, expiresAt: null }] }),
    orRefuse
  )
  return { endpoint, secret }
})

const insert = ({ limits, store, unitOfWork }: Dependencies, record: EndpointRecord) =>
  Effect.gen(function*() {
    const room = EndpointRules.checkRoom(yield* store.countEndpoints(record.endpoint.account), limits)
    if (Result.isSuccess(room)) yield* store.insertEndpoint(record)
    return room
  }).pipe(unitOfWork.atomically)

const update = Effect.fnUntraced(function*(
  self: Dependencies,
  account: string,
  id: EndpointId,
  { status, types, url }: EndpointChange
) {
  const checkedTypes = types === undefined ? undefined : yield* orRefuse(checkTypes(types, self.limits))
  // Hosts are resolved only for endpoints that the account owns.
  if (url !== undefined) yield* getEndpoint(self, account, id)
  const checkedUrl = url === undefined ? undefined : yield* checkUrl(self, url)
  return yield* changeEndpoint(
    self,
    account,
    id,
    (record) => EndpointRules.update(record, { url: checkedUrl, types: checkedTypes, status })
  )
})

const removeFound = ({ store, unitOfWork }: Dependencies, account: string, id: EndpointId) =>
  Effect.gen(function*() {
    const isFound = (yield* store.loadEndpoint(account, id)) !== undefined
    if (isFound) yield* store.removeEndpoint(id)
    return isFound
  }).pipe(unitOfWork.atomically)

/** Returns the normalized URL. */
const checkUrl = ({ guard }: Dependencies, url: string) =>
  guard.check(url).pipe(Effect.map(({ url }) => url.href), Effect.catch(refuse))
