/** Renews the leases of a worker. */
import { Effect } from "effect"
import { Scheduler } from "../../Scheduler.ts"
import type { RunningJobs } from "./runningJobs.ts"
import { logFailure, type Settings } from "./settings.ts"

/** Creates the loop. It interrupts jobs whose lease is lost. */
export const makeHeartbeatLoop = Effect.fnUntraced(function*(settings: Settings, running: RunningJobs) {
  const scheduler = yield* Scheduler

  const heartbeat = Effect.gen(function*() {
    for (const lost of yield* scheduler.heartbeat(running.jobs(), settings.lease)) {
      // A job that is settling has no lease once it is settled.
      if (!running.isWorking(lost)) continue
      yield* Effect.logWarning("The lease of a job was lost; its run is interrupted", { job: lost.job })
      running.interrupt(lost)
    }
  }).pipe(logFailure("Renewing leases failed", undefined))

  return Effect.andThen(Effect.sleep(settings.heartbeatInterval), heartbeat).pipe(Effect.forever)
})
