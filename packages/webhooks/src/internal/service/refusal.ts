/** Rejections of `Webhooks`. */
import { Effect, Result } from "effect"
import { WebhooksError, type WebhooksErrorReason } from "../../WebhooksError.ts"

/** Fails with a `WebhooksError`. */
export const refuse = (reason: WebhooksErrorReason): Effect.Effect<never, WebhooksError> =>
  Effect.fail(new WebhooksError({ reason }))

/** Turns a result into an effect that fails with a `WebhooksError`. */
export const orRefuse = <A>(result: Result.Result<A, WebhooksErrorReason>): Effect.Effect<A, WebhooksError> =>
  Effect.fromResult(Result.mapError(result, (reason) => new WebhooksError({ reason })))
