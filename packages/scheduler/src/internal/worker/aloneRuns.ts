/** Whether the worker makes room for a job that has to run alone. */
import type { StorageError } from "@kinora/persistence/StorageError"
import { Effect } from "effect"
import { Scheduler } from "../../Scheduler.ts"
import { openKinds } from "./openKinds.ts"
import type { RunningJobs } from "./runningJobs.ts"
import type { Settings } from "./settings.ts"
import type { WorkerLease } from "./workerLease.ts"

/** Whether a job that has to run alone is due for this worker. */
export interface AloneRuns {
  readonly isDue: () => boolean
  /** Whether such a job is due, or runs: until it has ended, no other job may start. */
  readonly isExclusive: () => boolean
  /** Waits for the other jobs of the worker, runs `claim`, and waits for the end of what it has started. */
  readonly run: (claim: Effect.Effect<void>) => Effect.Effect<void>
  /** Calls the listener when such a job becomes due. */
  readonly onDue: (listener: () => void) => void
  /** Looks for such a job, unless one is known. */
  readonly look: Effect.Effect<void, StorageError>
  /** Forgets the job, before the worker claims it. */
  readonly take: () => void
}

/** Creates the state. */
export const make = Effect.fnUntraced(function*(settings: Settings, running: RunningJobs, { id }: WorkerLease) {
  const scheduler = yield* Scheduler
  const listeners: Array<() => void> = []
  let isDue = false
  let runs = 0

  const look = Effect.gen(function*() {
    if (isDue) return
    const { claimed } = yield* openKinds(settings, 1)
    isDue = yield* scheduler.isAloneDue({ ...claimed, id, isIdle: running.jobs().length === 0 })
    if (isDue) { for (const listener of listeners) listener() }
  })

  const aloneRuns: AloneRuns = {
    isDue: () => isDue,
    isExclusive: () => isDue || runs > 0,
    run: (claim) =>
      Effect.acquireUseRelease(
        Effect.sync(() => runs++),
        () => running.isEmpty.pipe(Effect.andThen(claim), Effect.andThen(running.isEmpty)),
        () => Effect.sync(() => runs--)
      ),
    onDue: (listener) => void listeners.push(listener),
    look,
    take: () => {
      isDue = false
    }
  }
  return aloneRuns
})
