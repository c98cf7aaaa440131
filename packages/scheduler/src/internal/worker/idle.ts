/** Whether a worker takes jobs that are handed over. */
import { Effect } from "effect"

/**
 * Whether a worker sleeps, since its last claim has returned all jobs that it may run, and no rescue of it is under way. A rescue
 * names the jobs that the worker runs, and would take over a job that was leased to the worker meanwhile.
 */
export interface Idle {
  readonly isIdle: () => boolean
  /** Runs `sleep`. The worker is idle meanwhile. */
  readonly during: <A, E, R>(sleep: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Runs `rescue`. The worker is not idle meanwhile. */
  readonly except: <A, E, R>(rescue: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** Creates the state of a worker that does not sleep. */
export const make = (): Idle => {
  let sleeps = 0
  let rescues = 0
  return {
    isIdle: () => sleeps > 0 && rescues === 0,
    during: (sleep) =>
      Effect.acquireUseRelease(Effect.sync(() => sleeps++), () => sleep, () => Effect.sync(() => sleeps--)),
    except: (rescue) =>
      Effect.acquireUseRelease(Effect.sync(() => rescues++), () => rescue, () => Effect.sync(() => rescues--))
  }
}
