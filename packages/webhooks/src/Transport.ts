/** The port to the network: one send. */
import { Context, type Effect } from "effect"
import type { Outcome } from "./Delivery.ts"

/** One HTTP request. */
export interface TransportRequest {
  readonly url: string
  /** Names as they are to be written. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** Sends requests to endpoints. */
export class Transport extends Context.Service<Transport, {
  /**
   * Posts, and says what came of it; never fails. Interrupting it closes the
   * connection. It takes no longer than the time limit of the implementation.
   */
  readonly send: (request: TransportRequest) => Effect.Effect<Outcome>
}>()("@kinora/webhooks/Transport") {}
