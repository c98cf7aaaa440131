/** Settings of a worker, with their defaults applied. */
import { type Duration, Effect } from "effect"
import type { JobHandler } from "../../JobHandler.ts"
import type { ClaimOptions } from "../requests.ts"

/** The options of a worker. */
export interface Settings {
  readonly name: string
  /** Id of its offer; `undefined`: a random one. */
  readonly id: string | undefined
  readonly handlers: ReadonlyArray<JobHandler>
  readonly concurrency: number
  readonly claimMax: number
  readonly pollInterval: Duration.Duration
  readonly lease: Duration.Duration
  readonly heartbeatInterval: Duration.Duration
  readonly rescueInterval: Duration.Duration
  readonly grace: Duration.Duration
}

/** Selects up to `limit` jobs of these kinds. */
export const claimOptions = (
  { lease, name }: Settings,
  kinds: ReadonlyArray<string>,
  limit: number
): ClaimOptions => ({ worker: name, kinds, limit, lease })

/** Selects up to `claimMax` jobs of the worker's kinds, in all pools. */
export const rescueOptions = ({ claimMax, handlers, lease, name }: Settings): ClaimOptions => ({
  worker: name,
  kinds: handlers.map(({ kind }) => kind),
  limit: claimMax,
  lease
})

/** Logs a failure of one round and returns `otherwise`, so that the loop continues with the next round. */
export const logFailure =
  <B>(message: string, otherwise: B) => <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A | B, never, R> =>
    Effect.catchCause(effect, (cause) => Effect.as(Effect.logError(message, cause), otherwise))
