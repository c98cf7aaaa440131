/** Refusals of `Webhooks`. */
import { Effect } from "effect"
import { WebhooksError, type WebhooksErrorReason } from "../WebhooksError.ts"

export const refuse = (reason: WebhooksErrorReason): Effect.Effect<never, WebhooksError> =>
  Effect.fail(new WebhooksError({ reason }))
