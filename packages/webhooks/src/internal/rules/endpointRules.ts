/** Rules of endpoints and their secrets. */
import { accept, type Decision } from "@kinora/persistence/Decision"
import { DateTime, Duration, Result } from "effect"
import type { Delivery, DeliveryId } from "../../Delivery.ts"
import type { Endpoint, EndpointStatus, SealedSecret } from "../../Endpoint.ts"
import {
  DeliveryNotFound,
  DeliveryPending,
  EndpointDisabled,
  OverlapInvalid,
  TooManyEndpoints,
  TooManySecrets
} from "../../WebhooksError.ts"
import type { EndpointRecord } from "../../WebhookStore.ts"

/** Refuses another endpoint if the account already has `endpointsMax`. */
export const checkRoom = (
  endpoints: number,
  { endpointsMax }: { readonly endpointsMax: number }
): Result.Result<void, TooManyEndpoints> =>
  endpoints >= endpointsMax ? Result.fail(new TooManyEndpoints({ endpointsMax })) : Result.void

/** Returns whether the endpoint receives events of this type. */
export const accepts = ({ status, types }: Endpoint, type: string): boolean =>
  status === "enabled" && (types === null || types.includes(type))

/** Checked changes to an endpoint. Fields that are `undefined` stay. */
export interface CheckedChange {
  readonly url: string | undefined
  readonly types: ReadonlyArray<string> | null | undefined
  readonly status: EndpointStatus | undefined
}

/** Changes an endpoint. */
export const update = (
  { endpoint, secrets }: EndpointRecord,
  { status, types, url }: CheckedChange
): Decision<EndpointRecord, Endpoint> => {
  const changed: Endpoint = {
    ...endpoint,
    url: url ?? endpoint.url,
    types: types === undefined ? endpoint.types : types,
    status: status ?? endpoint.status
  }
  return accept({ endpoint: changed, secrets }, changed)
}

/** A new secret that replaces the active ones after `overlap`. */
export interface Rotation {
  readonly sealed: string
  readonly at: DateTime.Utc
  readonly overlap: Duration.Duration
}

/** Limits of a rotation. */
export interface RotationLimits {
  readonly overlapMax: Duration.Duration
  readonly secretsMax: number
}

/** Rejects an overlap that is negative or too long. */
export const checkOverlap = (
  overlap: Duration.Duration,
  { overlapMax }: RotationLimits
): Result.Result<Duration.Duration, OverlapInvalid> =>
  Duration.isNegative(overlap) || Duration.isGreaterThan(overlap, overlapMax)
    ? Result.fail(new OverlapInvalid({ secondsMax: Math.floor(Duration.toSeconds(overlapMax)) }))
    : Result.succeed(overlap)

/** Adds a secret. The active ones expire after the overlap, or earlier if they already would. */
export const rotate = (
  { endpoint, secrets }: EndpointRecord,
  { at, overlap, sealed }: Rotation,
  { secretsMax }: RotationLimits
): Decision<EndpointRecord, Endpoint, TooManySecrets> => {
  const older = overlapping(secrets, at, overlap)
  if (older.length >= secretsMax) return Result.fail(new TooManySecrets({ secretsMax }))
  const changed: Endpoint = { ...endpoint, secretCreatedAt: at }
  return accept({ endpoint: changed, secrets: [{ sealed, createdAt: at, expiresAt: null }, ...older] }, changed)
}

/** Replaces sealed texts and removes expired secrets. `texts` maps each text to its replacement. */
export const reseal = (
  { endpoint, secrets }: EndpointRecord,
  { at, texts }: { readonly at: DateTime.Utc; readonly texts: ReadonlyMap<string, string> }
): Decision<EndpointRecord, void> =>
  accept({
    endpoint,
    secrets: activeAt(secrets, at).map((secret) => ({ ...secret, sealed: texts.get(secret.sealed) ?? secret.sealed }))
  }, undefined)

/** Returns the secrets that sign at `at`, newest first. */
export const activeAt = (secrets: ReadonlyArray<SealedSecret>, at: DateTime.Utc): ReadonlyArray<SealedSecret> =>
  secrets.filter(({ expiresAt }) => expiresAt === null || DateTime.isGreaterThan(expiresAt, at))

/** A delivery with its endpoint, as far as they exist. */
export interface FoundDelivery {
  readonly delivery: Delivery | undefined
  readonly endpoint: Endpoint | undefined
}

/** Returns an ended delivery restarted with the whole schedule. */
export const resend = (
  { delivery, endpoint }: FoundDelivery,
  { at, id }: { readonly at: DateTime.Utc; readonly id: DeliveryId }
): Result.Result<Delivery, DeliveryNotFound | DeliveryPending | EndpointDisabled> => {
  if (delivery === undefined) return Result.fail(new DeliveryNotFound({ delivery: id }))
  if (delivery.status === "pending") return Result.fail(new DeliveryPending({ delivery: id }))
  if (endpoint === undefined) return Result.fail(new DeliveryNotFound({ delivery: id }))
  if (endpoint.status === "disabled") return Result.fail(new EndpointDisabled({ endpoint: endpoint.id }))
  return Result.succeed({ ...delivery, status: "pending", failedSends: 0, dueAt: at })
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The secrets that continue to sign beside a new one, with their new ends. */
const overlapping = (
  secrets: ReadonlyArray<SealedSecret>,
  at: DateTime.Utc,
  overlap: Duration.Duration
): ReadonlyArray<SealedSecret> => {
  if (Duration.isZero(overlap)) return []
  const end = DateTime.addDuration(at, overlap)
  return activeAt(secrets, at)
    .map((secret) => ({ ...secret, expiresAt: secret.expiresAt === null ? end : DateTime.min(secret.expiresAt, end) }))
}
