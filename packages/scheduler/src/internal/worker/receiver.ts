/** Takes jobs that this process enqueues, while the worker has found nothing to claim. */
import { Effect } from "effect"
import type { Offered, Receiver, Reserved } from "../handovers.ts"
import * as KindName from "../kindName.ts"
import { openKinds } from "./openKinds.ts"
import { selectionOf } from "./selection.ts"
import type { Settings } from "./settings.ts"
import type { WorkerParts } from "./workerParts.ts"

/** Creates the receiver. It reserves a slot only for a job that the next claim of the worker would return. */
export const makeReceiver = Effect.fnUntraced(function*(
  settings: Settings,
  { idle, lease, running, start }: Pick<WorkerParts, "idle" | "lease" | "running" | "start">
) {
  const context = yield* Effect.context()
  /** The kinds of handlers that write rows in the unit of a claim. */
  const recorded = new Set(settings.handlers.flatMap(({ claimed, kind }) => claimed === undefined ? [] : [kind]))

  const isSelected = ({ group }: Offered) => {
    const { except, limit } = selectionOf({ ...settings, held: running.groups() })
    return limit > 0 && !except.includes(group)
  }

  const receiver: Receiver = Effect.fnUntraced(function*(job: Offered) {
    if (!idle.isIdle() || recorded.has(KindName.baseOf(job.kind))) return undefined
    // Without the pools that have a limit, which counts no reserved slots.
    const { claimed } = yield* openKinds(settings, Infinity)
    // Tested and reserved in one step.
    return yield* Effect.sync((): Reserved | undefined => {
      const current = lease.current()
      if (
        current === undefined || !lease.isOffering() || !idle.isIdle() || !claimed.kinds.includes(job.kind) ||
        !isSelected(job)
      ) return undefined
      const release = running.reserve(job)
      return {
        lease: current,
        worker: settings.name,
        start: (leased) =>
          // A job whose lease has ended since is rescued like the other jobs of that lease.
          Effect.suspend(() => lease.current() === current ? start(leased) : Effect.void).pipe(
            // After the start, so that nobody gets the slot, or finds the worker empty.
            Effect.ensuring(Effect.sync(() => release(lease.current() === current))),
            // A job runs with the services of its worker, not with those of the call that enqueues it.
            Effect.updateContext(() => context)
          ),
        release: Effect.sync(() => release(false))
      }
    })
  })
  return receiver
})
