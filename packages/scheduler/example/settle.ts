import { JobHandler, JobKind, Lanes, Scheduler } from "@kinora/scheduler"
import { Cause, Effect, Result, Schema } from "effect"

export const Render = JobKind.make({ name: "render", payload: Schema.Struct({ scene: Schema.String }) })

/** Creates a handler that stores each result in the unit of work that ends its job. */
export const makeHandler = Effect.fnUntraced(function*(store: (result: string) => Effect.Effect<void>) {
  const scheduler = yield* Scheduler.Scheduler
  return JobHandler.make({
    kind: Render,
    // After a crash the next worker continues from the checkpoint.
    run: Effect.fnUntraced(function*(job) {
      yield* scheduler.checkpoint({ ...job, checkpoint: { framesDone: 12 } })
      return `${job.payload.scene} is rendered`
    }),
    failed: (job, cause) => Effect.succeed(`${job.job} failed: ${String(Cause.squash(cause))}`),
    settle: Effect.fnUntraced(function*(settlements: ReadonlyArray<JobHandler.Settlement<string>>) {
      let lanes = yield* scheduler.load({ jobs: settlements.map(({ job }) => job) })
      for (const { job, outcome } of settlements) {
        const ended = Lanes.settle(lanes, job)
        if (Result.isFailure(ended)) continue // Another worker has the job, or has settled it.
        lanes = ended.success.state
        yield* store(outcome)
      }
      yield* scheduler.save(lanes)
    })
  })
})
