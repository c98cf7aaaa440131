/** Whether a worker sleeps, since its last claim has returned all jobs that it may run. */
import { Effect } from "effect"

/** Whether a worker sleeps. */
export interface Idle {
  readonly isIdle: () => boolean
  /** Runs `sleep`. The worker is idle meanwhile. */
  readonly during: <A>(sleep: Effect.Effect<A>) => Effect.Effect<A>
}

/** Creates the state of a worker that does not sleep. */
export const make = (): Idle => {
  let idle = false
  const set = (next: boolean) =>
    Effect.sync(() => {
      idle = next
    })
  return {
    isIdle: () => idle,
    during: (sleep) => Effect.ensuring(Effect.andThen(set(true), sleep), set(false))
  }
}
