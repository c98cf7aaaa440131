/** Failing with a refusal. */
import { Effect, type Result } from "effect"
import { GenerationError, type Refusal } from "../GenerationError.ts"

/** Fails with a `GenerationError` of this reason. */
export const refuse = (reason: Refusal): Effect.Effect<never, GenerationError> =>
  Effect.fail(new GenerationError({ reason }))

/** Succeeds with the value of a result, or fails with its refusal. */
export const orRefuse = <A>(result: Result.Result<A, Refusal>): Effect.Effect<A, GenerationError> =>
  Effect.mapError(Effect.fromResult(result), (reason) => new GenerationError({ reason }))
