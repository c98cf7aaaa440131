/** What the bodies of webhooks say of a generation: the job object of the interface, with links of their own. */
import * as GenerationEvent from "@kinora/generations/GenerationEvent"
import type { UrlSigner } from "@kinora/storage"
import type { Event } from "@kinora/webhooks/Event"
import { DateTime, Duration, Effect, type Schema } from "effect"
import { toWire } from "./internal/generationView.ts"

/** Where the links lead to, and what signs them. */
export interface WebhookDataOptions {
  /** `{base_url}` of the interface, without a slash at its end. There is no request whose origin could stand in for it. */
  readonly baseUrl: string
  readonly signer: UrlSigner.UrlSigner["Service"]
}

/** How long the links are good, from the first send of an event; never beyond the download window. */
export const linkTtl = Duration.hours(1)

/**
 * Makes the body's `data` of an event when it is first sent, for `DeliveryWorkerOptions.complete`:
 * of a generation's event `{ generation }`, the very object that GET would have
 * answered when it happened, but for the lifetimes of its links; of any other event
 * what it was published with. Data that is no generation is a defect.
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
