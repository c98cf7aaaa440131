/** Webhook events about generations. Each event carries the generation as of the event. */
import type { NewEvent } from "@kinora/webhooks/Event"
import { type Effect, Schema } from "effect"
import { Generation, type Status } from "./Generation.ts"

/** Event types that accounts can subscribe to. */
export const types = ["generation.started", "generation.completed", "generation.failed"] as const

/** See `types`. */
export type Type = (typeof types)[number]

/** Encodes a generation as the data of an event. The result is at most 1 MiB. */
export const toData: (generation: Generation) => Schema.Json = Schema.encodeSync(Generation)

/** Decodes data that `toData` encoded, in this or an earlier release. */
export const fromData: (data: Schema.Json) => Effect.Effect<Generation, Schema.SchemaError> = Schema
  .decodeUnknownEffect(Generation)

/**
 * Returns the events to publish for generations that changed their state, in the unit
 * of work that changed it. Waiting and cancelled jobs produce no event. The subject is the id of
 * the generation.
 */
export const ofChanged = (generations: ReadonlyArray<Generation>): ReadonlyArray<NewEvent> =>
  generations.flatMap((generation) => {
    const type = typeOf(generation.status)
    return type === undefined ? [] : [{
      account: generation.account,
      type,
      data: toData(generation),
      subject: generation.id
    }]
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const typeOf = (status: Status): Type | undefined => {
  switch (status) {
    case "processing":
      return "generation.started"
    case "completed":
      return "generation.completed"
    case "failed":
      return "generation.failed"
    default:
      return undefined
  }
}
