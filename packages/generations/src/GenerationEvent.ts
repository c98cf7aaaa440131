/** What an account's webhooks are told of its generations, with the generation as it then is. */
import type { NewEvent } from "@kinora/webhooks/Event"
import { type Effect, Schema } from "effect"
import { Generation, type Status } from "./Generation.ts"

/** The event types of the interface. */
export const types = ["generation.started", "generation.completed", "generation.failed"] as const

/** See `types`. */
export type Type = (typeof types)[number]

/** The generation as it is, as JSON: everything that is known of it, and no more than 1 MiB. */
export const toData: (generation: Generation) => Schema.Json = Schema.encodeSync(Generation)

/** The generation that `toData` made this of, also in an earlier release. Fails on anything else. */
export const fromData: (data: Schema.Json) => Effect.Effect<Generation, Schema.SchemaError> = Schema
  .decodeUnknownEffect(Generation)

/**
 * What to publish in the unit in which these generations came into their states.
 * Waiting and cancelling are not announced (D7, D8).
 */
export const ofChanged = (generations: ReadonlyArray<Generation>): ReadonlyArray<NewEvent> =>
  generations.flatMap((generation) => {
    const type = typeOf(generation.status)
    return type === undefined ? [] : [{ account: generation.account, type, data: toData(generation) }]
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
