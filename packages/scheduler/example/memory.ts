import { JobHandler, JobKind, Scheduler, Worker } from "@kinora/scheduler"
import { Console, Effect, Queue, Schema } from "effect"

const Render = JobKind.make({ name: "render", payload: Schema.Struct({ scene: Schema.String }) })

const program = Effect.gen(function*() {
  const scheduler = yield* Scheduler.Scheduler
  const rendered = yield* Queue.unbounded<string>()
  const handler = JobHandler.make({
    kind: Render,
    run: (job) => Queue.offer(rendered, job.payload.scene),
    failed: () => Effect.succeed(false)
  })

  // Ada renders one scene at a time.
  const ada = { lane: "ada/render", group: "ada", cap: 1, kind: Render }
  const dawn = yield* scheduler.enqueue({ ...ada, job: crypto.randomUUID(), payload: { scene: "dawn" } })
  const noon = yield* scheduler.enqueue({ ...ada, job: crypto.randomUUID(), payload: { scene: "noon" } })
  yield* Console.log(dawn.state, noon.state) // queued pending

  const scenes = Effect.all([Queue.take(rendered), Queue.take(rendered)])
  const worker = Worker.layer({ name: "worker-1", handlers: [handler] })
  yield* Console.log(yield* Effect.provide(scenes, worker)) // [ 'dawn', 'noon' ]
})

await Effect.runPromise(program.pipe(Effect.provide(Scheduler.layerMemory)))
