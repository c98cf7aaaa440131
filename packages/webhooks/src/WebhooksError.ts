/** Everything that `Webhooks` refuses to do. */
import { Schema } from "effect"
import { AddressRefused } from "./AddressGuard.ts"
import { DeliveryId } from "./Delivery.ts"
import { EndpointId } from "./Endpoint.ts"

/** The account has no endpoint of this id. */
export class EndpointNotFound extends Schema.TaggedError<EndpointNotFound>("@kinora/webhooks/EndpointNotFound")(
  "EndpointNotFound",
  { endpoint: EndpointId.schema }
) {}

/** The account has no delivery of this id, or none any more. */
export class DeliveryNotFound extends Schema.TaggedError<DeliveryNotFound>("@kinora/webhooks/DeliveryNotFound")(
  "DeliveryNotFound",
  { delivery: DeliveryId.schema }
) {}

/** The account has as many endpoints as it may have. */
export class TooManyEndpoints extends Schema.TaggedError<TooManyEndpoints>("@kinora/webhooks/TooManyEndpoints")(
  "TooManyEndpoints",
  { endpointsMax: Schema.Int }
) {}

/** The filter names a type that is none, too many of them, or none at all. */
export class TypesInvalid extends Schema.TaggedError<TypesInvalid>("@kinora/webhooks/TypesInvalid")(
  "TypesInvalid",
  { message: Schema.String }
) {}

/** An overlap is at most `secondsMax` seconds (D47). */
export class OverlapInvalid extends Schema.TaggedError<OverlapInvalid>("@kinora/webhooks/OverlapInvalid")(
  "OverlapInvalid",
  { secondsMax: Schema.Int }
) {}

/** So many secrets overlap already that another one would make the signature header too long. */
export class TooManySecrets extends Schema.TaggedError<TooManySecrets>("@kinora/webhooks/TooManySecrets")(
  "TooManySecrets",
  { secretsMax: Schema.Int }
) {}

/** Nothing is sent to a disabled endpoint. */
export class EndpointDisabled extends Schema.TaggedError<EndpointDisabled>("@kinora/webhooks/EndpointDisabled")(
  "EndpointDisabled",
  { endpoint: EndpointId.schema }
) {}

/** The delivery has not ended, so it is going to be sent anyway. */
export class DeliveryPending extends Schema.TaggedError<DeliveryPending>("@kinora/webhooks/DeliveryPending")(
  "DeliveryPending",
  { delivery: DeliveryId.schema }
) {}

/** The rule that was broken. */
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
/** See the schema of the same name. */
export type WebhooksErrorReason = typeof WebhooksErrorReason.Type

/** A command to `Webhooks` was refused, and nothing was changed. */
export class WebhooksError extends Schema.TaggedError<WebhooksError>("@kinora/webhooks/WebhooksError")(
  "WebhooksError",
  { reason: WebhooksErrorReason }
) {
  override get message(): string {
    return `Refused: ${this.reason._tag}`
  }
}
