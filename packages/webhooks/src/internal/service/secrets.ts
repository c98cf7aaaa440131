/** The methods of `Webhooks` that rotate and reseal secrets. */
import * as Secret from "@kinora/webhook-signing/Secret"
import { DateTime, Duration, Effect, Redacted } from "effect"
import type { EndpointId, SealedSecret } from "../../Endpoint.ts"
import * as EndpointRules from "../rules/endpointRules.ts"
import type { Dependencies } from "./Dependencies.ts"
import { changeEndpoint } from "./endpointRecord.ts"
import { orRefuse } from "./refusal.ts"

/** Generates a secret and seals it for the endpoint. */
export const issueSecret = Effect.fnUntraced(function*({ box, random }: Dependencies, endpoint: EndpointId) {
  const secret = Redacted.make(Secret.encode(yield* random.randomBytes(Secret.byteCount)))
  return { secret, sealed: yield* box.seal(endpoint, secret) }
})

/** The methods of `Webhooks` for secrets. */
export const methods = (self: Dependencies) => ({
  rotate: Effect.fn("Webhooks.rotate")((account: string, id: EndpointId, overlap: Duration.Input = Duration.zero) =>
    rotate(self, account, id, Duration.fromInputUnsafe(overlap))
  ),
  reseal: Effect.fn("Webhooks.reseal")((limit: number) => reseal(self, limit))
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const rotate = Effect.fnUntraced(function*(
  self: Dependencies,
  account: string,
  id: EndpointId,
  overlapInput: Duration.Duration
) {
  const overlap = yield* orRefuse(EndpointRules.checkOverlap(overlapInput, self.limits))
  const { sealed, secret } = yield* issueSecret(self, id)
  const at = yield* DateTime.now
  const endpoint = yield* changeEndpoint(
    self,
    account,
    id,
    (record) => EndpointRules.rotate(record, { sealed, at, overlap }, self.limits)
  )
  return { endpoint, secret }
})

const reseal = Effect.fnUntraced(function*(self: Dependencies, limit: number) {
  const at = yield* DateTime.now
  const stale = yield* self.store.findStaleSecrets(self.box.prefix, at, limit)
  const resealed = yield* Effect.forEach(
    stale,
    ({ account, id }) =>
      Effect.as(resealOne(self, account, id, at), 1).pipe(
        // A secret that no key opens must not keep the others under the old key.
        Effect.catchDefect((defect) =>
          Effect.as(
            Effect.logError("Failed to reseal a webhook secret", defect).pipe(Effect.annotateLogs({ endpoint: id })),
            0
          )
        )
      )
  )
  return resealed.reduce<number>((sum, count) => sum + count, 0)
})

/** Seals the secrets of an endpoint with the first key. They are short, so this may happen inside the unit of work. */
const resealOne = ({ box, store, unitOfWork }: Dependencies, account: string, id: EndpointId, at: DateTime.Utc) =>
  Effect.gen(function*() {
    const record = yield* store.loadEndpoint(account, id)
    if (record === undefined) return
    const stale = EndpointRules.activeAt(record.secrets, at).filter(({ sealed }) => !sealed.startsWith(box.prefix))
    const texts = new Map(yield* Effect.forEach(stale, (secret) => resealText(box, id, secret)))
    yield* Effect.flatMap(
      Effect.fromResult(EndpointRules.reseal(record, { at, texts })),
      ({ state }) => store.saveSecrets(state)
    )
  }).pipe(unitOfWork.atomically)

const resealText = (box: Dependencies["box"], id: EndpointId, { sealed }: SealedSecret) =>
  Effect.map(
    Effect.flatMap(box.open(id, sealed), (secret) => box.seal(id, secret)),
    (text) => [sealed, text] as const
  )
