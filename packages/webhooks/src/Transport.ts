/** The port to the network. */
import { Context, type Effect } from "effect"
import type { Outcome } from "./Delivery.ts"

/** An HTTP POST request. */
export interface TransportRequest {
  readonly url: string
  /** Headers with their names as they are written. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** Sends requests to endpoints. */
export class Transport extends Context.Service<Transport, {
  /**
   * Posts a request and returns its outcome. Never fails. An interruption closes the
   * connection. The implementation limits the time.
   */
  readonly send: (request: TransportRequest) => Effect.Effect<Outcome>
}>()("@kinora/webhooks/Transport") {}
