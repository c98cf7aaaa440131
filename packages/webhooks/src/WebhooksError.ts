/** Errors of `Webhooks`. */
import { AddressRefused } from "@kinora/address-guard/AddressGuard"
import * as Rejection from "@kinora/persistence/Rejection"
import { Schema } from "effect"
import { DeliveryId } from "./Delivery.ts"
import { EndpointId } from "./Endpoint.ts"

/** The account has no endpoint with this id. */
export class EndpointNotFound extends Schema.TaggedError<EndpointNotFound>("@kinora/webhooks/EndpointNotFound")(
  "EndpointNotFound",
  { endpoint: EndpointId.schema }
) {}

/** The account has no delivery with this id. */
export class DeliveryNotFound extends Schema.TaggedError<DeliveryNotFound>("@kinora/webhooks/DeliveryNotFound")(
  "DeliveryNotFound",
  { delivery: DeliveryId.schema }
) {}

/** The account already has the maximum number of endpoints. */
export class TooManyEndpoints extends Schema.TaggedError<TooManyEndpoints>("@kinora/webhooks/TooManyEndpoints")(
  "TooManyEndpoints",
  { endpointsMax: Schema.Int }
) {}

/** The filter is empty, too long, or contains an invalid event type. */
export class TypesInvalid extends Schema.TaggedError<TypesInvalid>("@kinora/webhooks/TypesInvalid")(
  "TypesInvalid",
  { message: Schema.String }
) {}

/** The overlap is negative or longer than `secondsMax` seconds. */
export class OverlapInvalid extends Schema.TaggedError<OverlapInvalid>("@kinora/webhooks/OverlapInvalid")(
  "OverlapInvalid",
  { secondsMax: Schema.Int }
) {}

/** The endpoint already has the maximum number of active secrets. */
export class TooManySecrets extends Schema.TaggedError<TooManySecrets>("@kinora/webhooks/TooManySecrets")(
  "TooManySecrets",
  { secretsMax: Schema.Int }
) {}

/** The endpoint is disabled. */
export class EndpointDisabled extends Schema.TaggedError<EndpointDisabled>("@kinora/webhooks/EndpointDisabled")(
  "EndpointDisabled",
  { endpoint: EndpointId.schema }
) {}

/** The delivery is still pending and cannot be resent. */
export class DeliveryPending extends Schema.TaggedError<DeliveryPending>("@kinora/webhooks/DeliveryPending")(
  "DeliveryPending",
  { delivery: DeliveryId.schema }
) {}

/** Schema of all reasons of `WebhooksError`. */
export const WebhooksErrorReason = Schema.Union([
  EndpointNotFound,
  DeliveryNotFound,
  TooManyEndpoints,
  AddressRefused,
  TypesInvalid,
  OverlapInvalid,
  TooManySecrets,
  EndpointDisabled,
  DeliveryPending
])
/** Reason of a `WebhooksError`. */
export type WebhooksErrorReason = typeof WebhooksErrorReason.Type

/** `Webhooks` rejected a command. Nothing was changed. */
export class WebhooksError extends Rejection.define<WebhooksError>("@kinora/webhooks/WebhooksError")(
  "WebhooksError",
  "Webhooks",
  WebhooksErrorReason
) {}
