import { UnitOfWork } from "@kinora/persistence"
import { JobHandler, JobKind, Lanes, MemorySchedulerStore, Scheduler, Wakeup, Worker } from "@kinora/scheduler"
import { Cause, Deferred, Effect, Layer, Result, Schema } from "effect"

const Render = JobKind.make({ name: "render", payload: Schema.Struct({ scene: Schema.String }) })

export const example = Effect.gen(function*() {
  const scheduler = yield* Scheduler.Scheduler
  const finished = yield* Deferred.make<void>()
  const results: Array<string> = []

  const handler = JobHandler.make({
    kind: Render,
    // What was reached is kept, so that another worker goes on from there.
    run: Effect.fnUntraced(function*(job) {
      yield* scheduler.checkpoint({ ...job, checkpoint: { framesDone: 12 } })
      return `${job.payload.scene} is rendered`
    }),
    failed: (job, cause) => Effect.succeed(`${job.job} failed: ${String(Cause.squash(cause))}`),
    // Ends the jobs and writes what belongs to them, in one unit.
    settle: Effect.fnUntraced(function*(settlements: ReadonlyArray<JobHandler.Settlement<string>>) {
      let lanes = yield* scheduler.load({ jobs: settlements.map(({ job }) => job) })
      for (const { job, outcome } of settlements) {
        const ended = Lanes.settle(lanes, job)
        if (Result.isFailure(ended)) continue // Another worker has the job now.
        lanes = ended.success.state
        results.push(outcome)
      }
      yield* scheduler.save(lanes)
      if (results.length === 3) yield* Deferred.succeed(finished, undefined)
    })
  })

  // Ada renders one scene at a time, and may have two waiting.
  const ada = { lane: "ada/render", group: "ada", cap: 1, waitingMax: 2, kind: Render }
  const enqueue = (job: string, scene: string) => scheduler.enqueue({ ...ada, job, payload: { scene } })
  const states = [
    yield* enqueue("0199f2b8-0000-7000-8000-000000000001", "dawn"),
    yield* enqueue("0199f2b8-0000-7000-8000-000000000002", "noon"),
    yield* enqueue("0199f2b8-0000-7000-8000-000000000003", "dusk")
  ].map(({ state }) => state)
  const refused = yield* Effect.flip(enqueue("0199f2b8-0000-7000-8000-000000000004", "night"))

  // The worker drains when the scope of its layer closes.
  yield* Deferred.await(finished).pipe(Effect.provide(Worker.layer({ name: "worker-1", handlers: [handler] })))
  return { states, refused: refused.message, results }
}).pipe(Effect.provide(
  // With a database: SqlSchedulerStore.layer and UnitOfWork.layerSql.
  Scheduler.layer.pipe(
    Layer.provide(MemorySchedulerStore.layer),
    Layer.provideMerge(Wakeup.layer),
    Layer.provideMerge(UnitOfWork.layerMemory)
  )
))
