/** Where an account wants its events sent. */
import { TypeId } from "@kinora/persistence"
import { type DateTime, Schema } from "effect"

/** `whep_…` (D2). */
export const EndpointId = TypeId.define("whep", "EndpointId")
/** See the value of the same name. */
export type EndpointId = TypeId.Id<"EndpointId">

/** `disabled`: no event is sent there until it is enabled again. */
export const EndpointStatus = Schema.Literals(["enabled", "disabled"])
/** See the schema of the same name. */
export type EndpointStatus = typeof EndpointStatus.Type

/** A registered endpoint, without its secrets. */
export interface Endpoint {
  readonly id: EndpointId
  /** Whose it is: an id of the embedding service, opaque here. */
  readonly account: string
  /** As the address guard wrote it: absolute, lower-case host in ASCII, no fragment. */
  readonly url: string
  /** Event types that are sent there, without duplicates; `null`: all. */
  readonly types: ReadonlyArray<string> | null
  readonly status: EndpointStatus
  readonly createdAt: DateTime.Utc
  /** When the secret that signs now was issued. */
  readonly secretCreatedAt: DateTime.Utc
}

/** Whether events of this type make a delivery for the endpoint. */
export const accepts = ({ status, types }: Endpoint, type: string): boolean =>
  status === "enabled" && (types === null || types.includes(type))

/** A secret as it is kept: sealed, so that the database alone does not give it away. */
export interface SealedSecret {
  /** What `SecretBox` made of `whsec_…`. */
  readonly sealed: string
  readonly createdAt: DateTime.Utc
  /** Signs beside the newer one until then (D47); `null`: the one that signs. */
  readonly expiresAt: DateTime.Utc | null
}
