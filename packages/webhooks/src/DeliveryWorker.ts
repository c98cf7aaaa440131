/**
 * Sends what is due. Any number of processes may: each claims under a lease, so a
 * delivery is in one hand at a time, and of a process that dies others take over.
 */
import { Context, type Duration, type Effect, type Schema } from "effect"
import type { Event } from "./Event.ts"
import type { Schedule } from "./Retry.ts"

/** Limits and looks, each with its default. */
export interface DeliveryWorkerOptions {
  /** Sends at the same time, of all endpoints. Default 256. */
  readonly sendsMax?: number | undefined
  /** Of these, those to one endpoint. Default 16. */
  readonly endpointSendsMax?: number | undefined
  /** Of these, those to the endpoints of one account. Default 64. */
  readonly accountSendsMax?: number | undefined
  /**
   * Of all sends, those to endpoints whose last send failed or took long. Default half:
   * the dead ones share it, so that they never take the room of those that answer (D46).
   */
  readonly suspectSendsMax?: number | undefined
  /** A send that takes longer makes its endpoint a suspect. Default 2 seconds. */
  readonly slowAfter?: Duration.Input | undefined
  /** Pauses between sends. Default 10, 60 and 300 seconds. */
  readonly schedule?: Schedule | undefined
  /** How long a claim lasts. Longer than a send may take. Default 30 seconds. */
  readonly lease?: Duration.Input | undefined
  /** How often to look for what nobody told about. Default 1 second. */
  readonly pollInterval?: Duration.Input | undefined
  /** What header names begin with. Default `X-Service-`. */
  readonly headerPrefix?: string | undefined
  /** Default `Service-Webhooks/1.0`. */
  readonly userAgent?: string | undefined
  /**
   * Makes the body's `data` of an event's when it is first sent: links that are good for
   * an hour from then, for instance. It must be quick and touch no database. When it
   * fails nothing is sent, and it is tried again later. Default: the event's own.
   */
  readonly complete?: ((event: Event) => Effect.Effect<Schema.Json>) | undefined
  /** Makes the whole body. Default `{ id, type, created_at, data }`. */
  readonly body?: ((parts: BodyParts) => Schema.Json) | undefined
}

/** What a body can say. */
export interface BodyParts {
  /** The delivery's id, by which receivers know duplicates (D43). */
  readonly id: string
  readonly type: string
  /** When the event happened, RFC 3339. */
  readonly createdAt: string
  readonly data: Schema.Json
}

/** A worker that sends until its layer closes. */
export class DeliveryWorker extends Context.Service<DeliveryWorker, {
  /** Claims nothing more, waits for the sends that are under way, and keeps what came of them. */
  readonly drain: Effect.Effect<void>
}>()("@kinora/webhooks/DeliveryWorker") {}
