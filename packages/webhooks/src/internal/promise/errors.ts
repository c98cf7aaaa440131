/** The refusals of webhooks as errors of JavaScript. */
import type { AddressRefused } from "@kinora/address-guard/AddressGuard"
import { errorsByTag, errorsOf, ownMessage } from "@kinora/persistence/PromiseApi"
import type * as Refusal from "../../WebhooksError.ts"

/** A call was refused. Nothing was changed. */
export abstract class WebhooksError extends Error {
  /** Names the refusal, for programs. */
  abstract readonly code: string
}

const define = errorsOf(WebhooksError)

/** The account has no endpoint with this id. Field: `endpoint`. */
export class EndpointNotFoundError extends define(
  "endpoint_not_found",
  ({ endpoint }: Refusal.EndpointNotFound) => `The account has no endpoint ${endpoint}`
) {}

/** The account has no delivery with this id. Field: `delivery`. */
export class DeliveryNotFoundError extends define(
  "delivery_not_found",
  ({ delivery }: Refusal.DeliveryNotFound) => `The account has no delivery ${delivery}`
) {}

/** The account already has the maximum number of endpoints. Field: `endpointsMax`. */
export class TooManyEndpointsError extends define(
  "too_many_endpoints",
  ({ endpointsMax }: Refusal.TooManyEndpoints) => `The account has the maximum number of endpoints, ${endpointsMax}`
) {}

/** The URL must not be called. Field: `problem`. */
export class AddressRefusedError extends define("address_refused", ownMessage<AddressRefused>) {}

/** The filter is empty, too long, or contains an invalid event type. */
export class TypesInvalidError extends define("types_invalid", ownMessage<Refusal.TypesInvalid>) {}

/** The overlap is negative or longer than `secondsMax` seconds. */
export class OverlapInvalidError extends define(
  "overlap_invalid",
  ({ secondsMax }: Refusal.OverlapInvalid) => `The overlap must be from 0 to ${secondsMax} seconds`
) {}

/** The endpoint already has the maximum number of active secrets. Field: `secretsMax`. */
export class TooManySecretsError extends define(
  "too_many_secrets",
  ({ secretsMax }: Refusal.TooManySecrets) => `The endpoint has the maximum number of active secrets, ${secretsMax}`
) {}

/** The endpoint is disabled. Field: `endpoint`. */
export class EndpointDisabledError extends define(
  "endpoint_disabled",
  ({ endpoint }: Refusal.EndpointDisabled) => `The endpoint ${endpoint} is disabled`
) {}

/** The delivery is still pending and cannot be resent. Field: `delivery`. */
export class DeliveryPendingError
  extends define("delivery_pending", ({ delivery }: Refusal.DeliveryPending) => `The delivery ${delivery} is pending`)
{}

/** Returns the error that a call throws for a refusal. */
export const errorOf = errorsByTag<Refusal.WebhooksErrorReason, WebhooksError>({
  EndpointNotFound: EndpointNotFoundError,
  DeliveryNotFound: DeliveryNotFoundError,
  TooManyEndpoints: TooManyEndpointsError,
  AddressRefused: AddressRefusedError,
  TypesInvalid: TypesInvalidError,
  OverlapInvalid: OverlapInvalidError,
  TooManySecrets: TooManySecretsError,
  EndpointDisabled: EndpointDisabledError,
  DeliveryPending: DeliveryPendingError
})
