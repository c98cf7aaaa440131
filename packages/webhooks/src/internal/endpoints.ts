/**
 * What an account does with its endpoints. Addresses are looked up and secrets sealed
 * before the unit that writes begins: both take time.
 */
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import * as Secret from "@kinora/webhook-signing/Secret"
import { DateTime, Duration, Effect, Redacted, Result } from "effect"
import { SecureRandom } from "effect/crypto"
import { AddressGuard } from "../AddressGuard.ts"
import { type Endpoint, EndpointId, type SealedSecret } from "../Endpoint.ts"
import { SecretBox } from "../SecretBox.ts"
import type { EndpointChange, NewEndpoint } from "../Webhooks.ts"
import * as WebhooksError from "../WebhooksError.ts"
import { type EndpointRecord, WebhookStore } from "../WebhookStore.ts"
import { checkTypes } from "./eventType.ts"
import type { Limits } from "./limits.ts"
import { refuse } from "./refuse.ts"

/** The part of `Webhooks` that is about endpoints. */
export type Endpoints = Effect.Success<ReturnType<typeof make>>

export const make = Effect.fnUntraced(function*(limits: Limits) {
  const { endpointsMax, overlapMax, secretsMax } = limits
  const { atomically } = yield* UnitOfWork
  const guard = yield* AddressGuard
  const box = yield* SecretBox
  const random = yield* SecureRandom.SecureRandom
  const store = yield* WebhookStore

  const tooMany = refuse(new WebhooksError.TooManyEndpoints({ endpointsMax }))
  const notFound = (endpoint: EndpointId) => refuse(new WebhooksError.EndpointNotFound({ endpoint }))

  /** The URL as it is kept. */
  const checkUrl = (text: string) => guard.check(text).pipe(Effect.map(({ url }) => url.href), Effect.catch(refuse))

  const issue = Effect.fnUntraced(function*(endpoint: EndpointId) {
    const secret = Redacted.make(Secret.encode(yield* random.randomBytes(Secret.byteCount)))
    return { secret, sealed: yield* box.seal(endpoint, secret) }
  })

  const list = Effect.fn("Webhooks.list")((account: string) => store.findEndpoints([account]))

  const get = Effect.fn("Webhooks.get")(function*(account: string, id: EndpointId) {
    const found = (yield* store.findEndpoints([account])).find((endpoint) => endpoint.id === id)
    return found ?? (yield* notFound(id))
  })

  /** Whether there was room. */
  const insert = Effect.fnUntraced(function*(record: EndpointRecord) {
    if ((yield* store.countEndpoints(record.endpoint.account)) >= endpointsMax) return false
    yield* store.insertEndpoint(record)
    return true
  }, atomically)

  const create = Effect.fn("Webhooks.create")(function*(account: string, { types, url }: NewEndpoint) {
    const checkedTypes = yield* checkTypes(types ?? null, limits)
    // Looked at before an address is looked up, which is most of the work; what counts is the look in the unit.
    if ((yield* store.findEndpoints([account])).length >= endpointsMax) return yield* tooMany
    const checkedUrl = yield* checkUrl(url)
    const id = yield* Effect.provideService(EndpointId.make, SecureRandom.SecureRandom, random)
    const { sealed, secret } = yield* issue(id)
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
    const inserted = yield* insert({ endpoint, secrets: [{ sealed, createdAt: at, expiresAt: null }] })
    return inserted ? { endpoint, secret } : yield* tooMany
  })

  /** Changes an endpoint of the account, or refuses to. */
  const change = (
    account: string,
    id: EndpointId,
    decide: (record: EndpointRecord) => Result.Result<EndpointRecord, WebhooksError.WebhooksError>
  ) =>
    Effect.gen(function*() {
      const record = yield* store.loadEndpoint(account, id)
      if (record === undefined) return undefined
      const decided = decide(record)
      if (Result.isSuccess(decided)) yield* store.saveEndpoint(decided.success)
      return decided
    }).pipe(
      atomically,
      // Refusals leave the unit as values, so that they do not doom one that is open.
      Effect.flatMap((decided) => decided === undefined ? notFound(id) : Effect.fromResult(decided))
    )

  const update = Effect.fn("Webhooks.update")(
    function*(account: string, id: EndpointId, { status, types, url }: EndpointChange) {
      const checkedTypes = types === undefined ? undefined : yield* checkTypes(types, limits)
      // Nobody has addresses looked up for an endpoint that is not his.
      if (url !== undefined) yield* get(account, id)
      const checkedUrl = url === undefined ? undefined : yield* checkUrl(url)
      const { endpoint } = yield* change(account, id, ({ endpoint, secrets }) =>
        Result.succeed({
          endpoint: {
            ...endpoint,
            url: checkedUrl ?? endpoint.url,
            types: checkedTypes === undefined ? endpoint.types : checkedTypes,
            status: status ?? endpoint.status
          },
          secrets
        }))
      return endpoint
    }
  )

  const rotate = Effect.fn("Webhooks.rotate")(
    function*(account: string, id: EndpointId, overlapInput: Duration.Input = Duration.zero) {
      const overlap = Duration.fromInputUnsafe(overlapInput)
      if (Duration.isNegative(overlap) || Duration.isGreaterThan(overlap, overlapMax)) {
        return yield* refuse(
          new WebhooksError.OverlapInvalid({ secondsMax: Math.floor(Duration.toSeconds(overlapMax)) })
        )
      }
      const { sealed, secret } = yield* issue(id)
      const at = yield* DateTime.now
      const { endpoint } = yield* change(account, id, ({ endpoint, secrets }) => {
        const older = overlapping(secrets, at, overlap)
        return older.length >= secretsMax
          ? Result.fail(new WebhooksError.WebhooksError({ reason: new WebhooksError.TooManySecrets({ secretsMax }) }))
          : Result.succeed({
            endpoint: { ...endpoint, secretCreatedAt: at },
            secrets: [{ sealed, createdAt: at, expiresAt: null }, ...older]
          })
      })
      return { endpoint, secret }
    }
  )

  const removeFound = Effect.fnUntraced(function*(account: string, id: EndpointId) {
    const found = (yield* store.loadEndpoint(account, id)) !== undefined
    if (found) yield* store.removeEndpoint(id)
    return found
  }, atomically)

  const remove = Effect.fn("Webhooks.remove")(function*(account: string, id: EndpointId) {
    if (!(yield* removeFound(account, id))) return yield* notFound(id)
  })

  /** Seals what an older key sealed. Few bytes each, so the unit does not wait. */
  const resealOne = Effect.fnUntraced(function*(account: string, id: EndpointId, at: DateTime.Utc) {
    const record = yield* store.loadEndpoint(account, id)
    if (record === undefined) return
    const secrets = yield* Effect.forEach(
      record.secrets.filter((secret) => isAlive(secret, at)),
      (secret) =>
        secret.sealed.startsWith(box.prefix)
          ? Effect.succeed(secret)
          : Effect.map(Effect.flatMap(box.open(id, secret.sealed), (text) => box.seal(id, text)), (sealed) => ({
            ...secret,
            sealed
          }))
    )
    yield* store.saveEndpoint({ endpoint: record.endpoint, secrets })
  }, atomically)

  const reseal = Effect.fn("Webhooks.reseal")(function*(limit: number) {
    const at = yield* DateTime.now
    const stale = yield* store.findStaleSecrets(box.prefix, at, limit)
    const resealed = yield* Effect.forEach(stale, ({ account, id }) =>
      Effect.as(resealOne(account, id, at), 1).pipe(
        // One secret that no key opens does not keep the others under the old key.
        Effect.catchDefect((defect) =>
          Effect.as(
            Effect.logError("A secret could not be sealed anew", defect).pipe(Effect.annotateLogs({ endpoint: id })),
            0
          )
        )
      ))
    return resealed.reduce<number>((sum, count) => sum + count, 0)
  })

  return { create, list, get, update, rotate, remove, reseal }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const isAlive = ({ expiresAt }: SealedSecret, at: DateTime.Utc) =>
  expiresAt === null || DateTime.isGreaterThan(expiresAt, at)

/** The secrets that go on signing beside a new one: until their own end, or that of this overlap (D47). */
const overlapping = (
  secrets: ReadonlyArray<SealedSecret>,
  at: DateTime.Utc,
  overlap: Duration.Duration
): ReadonlyArray<SealedSecret> => {
  if (Duration.isZero(overlap)) return []
  const end = DateTime.addDuration(at, overlap)
  return secrets
    .filter((secret) => isAlive(secret, at))
    .map((secret) => ({ ...secret, expiresAt: secret.expiresAt === null ? end : DateTime.min(secret.expiresAt, end) }))
}
