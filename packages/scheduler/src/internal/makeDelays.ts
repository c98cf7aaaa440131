/** The operations of the scheduler on delayed jobs. */
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Effect } from "effect"
import type { JobAddress } from "../Job.ts"
import { SchedulerStore } from "../SchedulerStore.ts"
import type { makeLoad, makeSave } from "./makeLoad.ts"
import { placeDue } from "./placeDue.ts"

/** Creates the operations. */
export const makeDelays = Effect.fnUntraced(function*(
  load: Effect.Success<ReturnType<typeof makeLoad>>,
  save: Effect.Success<typeof makeSave>
) {
  const { atomically } = yield* UnitOfWork
  const store = yield* SchedulerStore

  /** Decides on those of the jobs that are due still, since another worker may have placed them before the lanes were locked. */
  const placeAll = Effect.fnUntraced(function*(jobs: ReadonlyArray<JobAddress>) {
    const lanes = yield* load({ jobs })
    const due = yield* store.findDue(jobs.map(({ job }) => job))
    yield* save(due.reduce(placeDue, lanes))
  }, atomically)

  const enqueueDue = Effect.fn("Scheduler.enqueueDue")(function*(limit: number) {
    // Outside of the unit, since there is none in most cases.
    const due = yield* store.due(limit)
    if (due.length > 0) yield* placeAll(due)
    return due.length
  })

  return { enqueueDue, dueIn: Effect.withSpan(store.dueIn, "Scheduler.dueIn") }
})
