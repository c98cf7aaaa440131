/** Endpoints: the URLs that an account registered for its events. */
import { TypeId } from "@kinora/persistence"
import { type DateTime, Schema } from "effect"

/** Ids of endpoints, such as `whep_01k…`. */
export const EndpointId = TypeId.define("whep", "EndpointId")
/** Id of an endpoint. */
export type EndpointId = TypeId.Id<"EndpointId">

/** Status of an endpoint. A `disabled` one receives no events until it is enabled again. */
export const EndpointStatus = Schema.Literals(["enabled", "disabled"])
/** Status of an endpoint. */
export type EndpointStatus = typeof EndpointStatus.Type

/** A registered endpoint, without its secrets. */
export interface Endpoint {
  readonly id: EndpointId
  /** Owner of the endpoint: an id of the embedding service. */
  readonly account: string
  /** URL as normalized by the address guard: absolute, lower-case ASCII host, no fragment. */
  readonly url: string
  /** Event types that the endpoint receives, without duplicates; `null` for all types. */
  readonly types: ReadonlyArray<string> | null
  readonly status: EndpointStatus
  readonly createdAt: DateTime.Utc
  /** When the newest secret was issued. */
  readonly secretCreatedAt: DateTime.Utc
}

/** A stored secret, encrypted by `SecretBox`. */
export interface SealedSecret {
  /** The encrypted `whsec_…`. */
  readonly sealed: string
  readonly createdAt: DateTime.Utc
  /** When an older secret stops signing; `null` for the newest one. */
  readonly expiresAt: DateTime.Utc | null
}
