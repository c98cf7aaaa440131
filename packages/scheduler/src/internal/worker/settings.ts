/** Settings of a worker, with their defaults applied. */
import { type Duration, Effect } from "effect"
import type { JobHandler } from "../../JobHandler.ts"

/** The options of a worker. */
export interface Settings {
  readonly name: string
  /** Its id; `undefined`: a random one. */
  readonly id: string | undefined
  readonly handlers: ReadonlyArray<JobHandler>
  readonly concurrency: number
  readonly reserved: number
  readonly claimMax: number
  readonly pollInterval: Duration.Duration
  readonly lease: Duration.Duration
  readonly heartbeatInterval: Duration.Duration
  readonly rescueInterval: Duration.Duration
  readonly grace: Duration.Duration
}

/** The kinds and pools that the worker claims. */
export const kindsOf = ({ handlers }: Settings): ReadonlyArray<string> => handlers.flatMap(({ claims }) => claims)

/** Logs a failure of one round and returns `otherwise`, so that the loop continues with the next round. */
export const logFailure =
  <B>(message: string, otherwise: B) => <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A | B, never, R> =>
    Effect.catchCause(effect, (cause) => Effect.as(Effect.logError(message, cause), otherwise))
