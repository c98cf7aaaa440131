/** The `data` of webhooks: the job object of the API, with its own links. */
import * as GenerationEvent from "@kinora/generations/GenerationEvent"
import type { UrlSigner } from "@kinora/storage"
import type { Event } from "@kinora/webhooks/Event"
import { DateTime, Duration, Effect, type Schema } from "effect"
import { toWire } from "./wire/generation.ts"

/** Options for `complete`. */
export interface WebhookDataOptions {
  /** `{base_url}` of the links, without a trailing slash. A webhook has no request whose origin could be used. */
  readonly baseUrl: string
  readonly signer: UrlSigner.UrlSigner["Service"]
}

/** How long links are valid from the first attempt. They never outlive the result. */
export const linkTtl = Duration.hours(1)

/**
 * Makes the `data` of an event before its first attempt, for
 * `DeliveryWorkerOptions.complete`. For events of generations it is `{ generation }`, the
 * job as GET returned it when the event happened, except for the expiry of its links.
 * For other events it is the published data. Dies if the data of a generation event is
 * not a generation.
 */
export const complete = (
  { baseUrl, signer }: WebhookDataOptions
): (event: Event) => Effect.Effect<Schema.Json> =>
  Effect.fn("WebhookData.complete")(function*({ data, type }: Event) {
    if (!GenerationEvent.types.some((one) => one === type)) return data
    const generation = yield* Effect.orDie(GenerationEvent.fromData(data))
    const now = yield* DateTime.now
    return { generation: toWire(generation, now, { baseUrl, signer, until: DateTime.addDuration(now, linkTtl) }) }
  })
