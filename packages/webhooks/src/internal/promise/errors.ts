/** The refusals of webhooks as errors of JavaScript. */
import type { AddressRefused } from "@kinora/address-guard/AddressGuard"
import { defineError, errorsByTag } from "@kinora/persistence/promise"
import type * as Refusal from "../../WebhooksError.ts"

/** A call was refused. Nothing was changed. */
export abstract class WebhooksError extends Error {
  /** Names the refusal, for programs. */
  abstract readonly code: string
}

/** The account has no endpoint with this id. Field: `endpoint`. */
export class EndpointNotFoundError extends defineError(
  WebhooksError,
  "endpoint_not_found",
  ({ endpoint }: Refusal.EndpointNotFound) => `The account has no endpoint ${endpoint}`
) {}

/** The account has no delivery with this id. Field: `delivery`. */
export class DeliveryNotFoundError extends defineError(
  WebhooksError,
  "delivery_not_found",
  ({ delivery }: Refusal.DeliveryNotFound) => `The account has no delivery ${delivery}`
) {}

/** The account already has the maximum number of endpoints. Field: `endpointsMax`. */
export class TooManyEndpointsError extends defineError(
  WebhooksError,
  "too_many_endpoints",
  ({ endpointsMax }: Refusal.TooManyEndpoints) => `The account has the maximum number of endpoints, ${endpointsMax}`
) {}

/** The URL must not be called. Field: `problem`. */
export class AddressRefusedError extends defineError(
  WebhooksError,
  "address_refused",
  ({ message }: AddressRefused) => message
) {}

/** The filter is empty, too long, or contains an invalid event type. */
export class TypesInvalidError extends defineError(
  WebhooksError,
  "types_invalid",
  ({ message }: Refusal.TypesInvalid) => message
) {}

/** The overlap is negative or longer than `secondsMax` seconds. */
export class OverlapInvalidError extends defineError(
  WebhooksError,
  "overlap_invalid",
  ({ secondsMax }: Refusal.OverlapInvalid) => `The overlap must be from 0 to ${secondsMax} seconds`
) {}

/** The endpoint already has the maximum number of active secrets. Field: `secretsMax`. */
export class TooManySecretsError extends defineError(
  WebhooksError,
  "too_many_secrets",
  ({ secretsMax }: Refusal.TooManySecrets) => `The endpoint has the maximum number of active secrets, ${secretsMax}`
) {}

/** The endpoint is disabled. Field: `endpoint`. */
export class EndpointDisabledError extends defineError(
  WebhooksError,
  "endpoint_disabled",
  ({ endpoint }: Refusal.EndpointDisabled) => `The endpoint ${endpoint} is disabled`
) {}

/** The delivery is still pending and cannot be resent. Field: `delivery`. */
export class DeliveryPendingError extends defineError(
  WebhooksError,
  "delivery_pending",
  ({ delivery }: Refusal.DeliveryPending) => `The delivery ${delivery} is pending`
) {}

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
