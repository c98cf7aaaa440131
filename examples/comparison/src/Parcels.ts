/** Events about parcels, which customers receive as webhooks. Both solutions have this interface. */
import type { Pool, PoolClient } from "pg"

/** A parcel that was shipped to a customer. */
export interface Parcel {
  readonly id: string
  readonly customer: string
}

/** The events of this process. */
export interface Parcels {
  /** Sends the events of a customer to a URL, and returns the secret with which the receiver verifies them. */
  readonly subscribe: (customer: string, url: string) => Promise<string>
  /** Publishes that a parcel was shipped, during the transaction that stores it. */
  readonly publish: (parcel: Parcel, tx: PoolClient) => Promise<unknown>
  readonly close: () => Promise<void>
}

/** Creates or updates the tables, and sends events until `close`. */
export type OpenParcels = (pool: Pool) => Promise<Parcels>

/** Returns the id of the parcel of an event. Rejects if the event was not signed with the secret. */
export type Receive = (request: Request, secret: string) => Promise<string>
