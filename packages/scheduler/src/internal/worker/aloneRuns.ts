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

  const look = Effect.gen(function*() {
    if (isDue) return
    const { claimed } = yield* openKinds(settings, 1)
    isDue = yield* scheduler.isAloneDue({ ...claimed, id, isIdle: running.jobs().length === 0 })
    if (isDue) { for (const listener of listeners) listener() }
  })

  const runs: AloneRuns = {
    isDue: () => isDue,
    onDue: (listener) => void listeners.push(listener),
    look,
    take: () => {
      isDue = false
    }
  }
  return runs
})
