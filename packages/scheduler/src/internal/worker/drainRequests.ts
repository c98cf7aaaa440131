/** Drains the worker when it is asked to. */
import { Effect } from "effect"
import { Scheduler } from "../../Scheduler.ts"
import { logFailure, type Settings } from "./settings.ts"
import type { WorkerLease } from "./workerLease.ts"

/** Creates an effect that waits until the worker is asked to drain, which it learns at a heartbeat, and drains it. */
export const makeDrainRequests = Effect.fnUntraced(function*(
  { heartbeatInterval, name }: Settings,
  lease: WorkerLease,
  drain: Effect.Effect<void>
) {
  const scheduler = yield* Scheduler

  const isAsked = Effect.suspend(() => {
    const current = lease.current()
    return current === undefined ? Effect.succeed(false) : scheduler.isDrained(current)
  }).pipe(logFailure("Looking for a request to drain failed", false))

  return Effect.sleep(heartbeatInterval).pipe(
    Effect.andThen(isAsked),
    Effect.repeat({ until: (asked) => asked }),
    Effect.andThen(Effect.logInfo("The worker was asked to drain", { worker: name })),
    Effect.andThen(drain)
  )
})
