/** Pauses the worker while it is asked to drain. */
import { Effect } from "effect"
import { Scheduler } from "../../Scheduler.ts"
import { makeFinish } from "./drain.ts"
import { logFailure, type Settings } from "./settings.ts"
import type { WorkerParts } from "./workerParts.ts"

/**
 * Creates the loop. At a heartbeat, the worker learns that it is asked to drain: it then claims no more jobs, and finishes
 * those that it runs. It keeps its lease, so that it learns at a heartbeat too that it is asked to resume.
 */
export const makeDrainRequests = Effect.fnUntraced(function*(
  settings: Settings,
  { lease, leasing, running }: Pick<WorkerParts, "lease" | "leasing" | "running">
) {
  const { heartbeatInterval, name } = settings
  const scheduler = yield* Scheduler
  const finish = yield* makeFinish(settings, { leasing, running })

  /** Waits until the worker is asked to drain, or no longer asked. A failure changes nothing. */
  const awaitAsked = (asked: boolean) => {
    const look = Effect.suspend(() => {
      const current = lease.current()
      return current === undefined ? Effect.succeed(!asked) : scheduler.isDrained(current)
    }).pipe(logFailure("Looking for a request to drain failed", !asked))
    return Effect.andThen(Effect.sleep(heartbeatInterval), look).pipe(
      Effect.repeat({ until: (found) => found === asked })
    )
  }

  return Effect.gen(function*() {
    yield* awaitAsked(true)
    yield* Effect.logInfo("The worker was asked to drain", { worker: name })
    yield* lease.offer(false)
    // A worker that resumes keeps the jobs that it still runs.
    yield* Effect.raceFirst(Effect.andThen(finish, Effect.never), awaitAsked(false))
    yield* lease.offer(true)
    yield* Effect.logInfo("The worker was asked to resume", { worker: name })
  }).pipe(Effect.forever)
})
