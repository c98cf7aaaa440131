/** Jobs that start in the process that enqueues them, without a claim. */
import { assert, layer } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence"
import { Context, Effect, Exit, Latch, Layer, Queue } from "effect"
import { ids, makeWorld, stateOf } from "../src/internal/contract/world.ts"
import * as JobHandler from "../src/JobHandler.ts"
import * as Scheduler from "../src/Scheduler.ts"
import * as Wakeup from "../src/Wakeup.ts"
import type * as Worker from "../src/Worker.ts"
import { type Backend, startWorker } from "./Fixture.ts"

/** Another scheduler over the same store and the same workers. */
export const anotherScheduler = Effect.map(
  Layer.build(Layer.fresh(Scheduler.layerWith())),
  (services) => Context.get(services, Scheduler.Scheduler)
)

/** Starts a worker, and waits until it sleeps and has rescued jobs. Its jobs end when the gate is open. */
export const start = Effect.fnUntraced(function*(
  options: Partial<Parameters<typeof Worker.layer>[0]> & Partial<Pick<JobHandler.JobHandler, "claimed" | "isOpen">> & {
    /** Runs before each rescue, which has named the jobs of the worker by then. */
    readonly beforeRescue?: Effect.Effect<void>
  } = {}
) {
  const { beforeRescue = Effect.void } = options
  const world = yield* makeWorld
  const scheduler = yield* Scheduler.Scheduler
  const started = yield* Queue.unbounded<{ readonly job: string; readonly attempt: number }>()
  const [gate, slept, rescued] = [yield* Latch.make(true), yield* Latch.make(), yield* Latch.make()]
  const claimed: Array<string> = []
  const observed = Scheduler.Scheduler.of({
    ...scheduler,
    claim: (options) =>
      Effect.tap(scheduler.claim(options), (jobs) => {
        claimed.push(...ids(jobs))
        return jobs.length === 0 ? slept.open : Effect.void
      }),
    rescue: (options) => Effect.ensuring(Effect.andThen(beforeRescue, scheduler.rescue(options)), rescued.open)
  })
  const handler = JobHandler.make({
    kind: world.kind,
    run: ({ attempt, job }) => Effect.andThen(Queue.offer(started, { job, attempt }), gate.await),
    failed: () => Effect.void,
    claimed: options.claimed,
    isOpen: options.isOpen
  })
  const worker = yield* Effect.provideService(
    startWorker({ name: "worker", handlers: [handler], ...options }),
    Scheduler.Scheduler,
    observed
  )
  yield* Effect.andThen(slept.await, rescued.await)
  return { ...world, claimed, gate, scheduler, started: Queue.take(started), worker }
})

export const suite = <E>(name: string, backend: Layer.Layer<Backend, E>) =>
  layer(backend)(`Handovers (${name})`, (it) => {
    it.effect("starts a job in the unit that enqueues it, under the lease of the worker", () =>
      Effect.gen(function*() {
        const { claimed, gate, job, scheduler, started, worker } = yield* start()
        yield* gate.close
        const command = yield* scheduler.enqueue(job())
        assert.strictEqual(command.state, "queued")
        assert.deepStrictEqual(yield* started, { job: command.job, attempt: 1 })
        const [running] = yield* worker.running
        assert.deepStrictEqual([running?.job, running?.epoch], [command.job, 1])
        assert.strictEqual(yield* stateOf(command.job), "running")
        assert.deepStrictEqual(yield* scheduler.verify, [])
        yield* gate.open
        yield* worker.drain
        assert.deepStrictEqual(yield* scheduler.find([command.job]), [])
        assert.deepStrictEqual(claimed, [])
      }))

    it.effect("hands over as many jobs as the worker has slots, and the others are claimed", () =>
      Effect.gen(function*() {
        const { claimed, gate, job, scheduler, started } = yield* start({ concurrency: 2 })
        yield* gate.close
        const commands = yield* Effect.forEach([1, 2, 3], () => scheduler.enqueue(job({ cap: 5 })))
        assert.deepStrictEqual(ids([yield* started, yield* started]), ids(commands.slice(0, 2)))
        assert.strictEqual(yield* stateOf(commands[2]!.job), "queued")
        yield* gate.open
        assert.strictEqual((yield* started).job, commands[2]!.job)
        assert.deepStrictEqual(claimed, [commands[2]!.job])
      }))

    it.effect("leaves the slots that are reserved for other groups", () =>
      Effect.gen(function*() {
        const { claimed, gate, job, scheduler, started } = yield* start({ concurrency: 2, reserved: 1 })
        yield* gate.close
        const commands = yield* Effect.forEach([1, 2], () => scheduler.enqueue(job({ cap: 5 })))
        const { group, lane } = yield* makeWorld
        const other = yield* scheduler.enqueue(job({ cap: 5, group, lane }))
        assert.deepStrictEqual(ids([yield* started, yield* started]).toSorted(), ids([commands[0]!, other]).toSorted())
        yield* gate.open
        assert.strictEqual((yield* started).job, commands[1]!.job)
        assert.include(claimed, commands[1]!.job)
      }))

    it.effect("hands over no job of a unit of the caller, which may roll back", () =>
      Effect.gen(function*() {
        const { claimed, job, scheduler, started } = yield* start()
        const { atomically } = yield* UnitOfWork.UnitOfWork
        const undone = yield* Effect.exit(atomically(Effect.andThen(scheduler.enqueue(job()), Effect.fail("undone"))))
        assert.isTrue(Exit.isFailure(undone))
        const command = yield* atomically(scheduler.enqueue(job()))
        assert.strictEqual((yield* started).job, command.job)
        assert.deepStrictEqual(claimed, [command.job])
      }))

    it.effect("hands over no job whose handler writes rows in the unit of the claim", () =>
      Effect.gen(function*() {
        const { claimed, job, scheduler, started } = yield* start({ claimed: () => Effect.void })
        const command = yield* scheduler.enqueue(job())
        assert.strictEqual((yield* started).job, command.job)
        assert.deepStrictEqual(claimed, [command.job])
      }))

    it.effect("hands over no job that waits for a slot of its lane, or is delayed", () =>
      Effect.gen(function*() {
        const { gate, job, scheduler, started, worker } = yield* start()
        yield* gate.close
        const command = yield* scheduler.enqueue(job({ cap: 1 }))
        assert.strictEqual((yield* started).job, command.job)
        assert.strictEqual((yield* scheduler.enqueue(job({ cap: 1 }))).state, "pending")
        assert.strictEqual((yield* scheduler.enqueue({ ...job({ cap: 5 }), delay: "1 hour" })).state, "delayed")
        assert.deepStrictEqual(ids(yield* worker.running), [command.job])
        yield* gate.open
      }))

    it.effect("frees the slot when the job is refused", () =>
      Effect.gen(function*() {
        const { claimed, job, scheduler, started } = yield* start({ concurrency: 1 })
        const refused = yield* Effect.exit(scheduler.enqueue(job({ cap: 0, waitingMax: 0 })))
        assert.isTrue(Exit.isFailure(refused))
        const command = yield* scheduler.enqueue(job())
        assert.strictEqual((yield* started).job, command.job)
        assert.deepStrictEqual(claimed, [])
      }))

    it.effect("enqueues jobs although an effect of a handler dies", () =>
      Effect.gen(function*() {
        let fails = false
        const isOpen = Effect.suspend(() =>
          fails ? Effect.die(new Error("A handler with a bug")) : Effect.succeed(true)
        )
        const { claimed, job, scheduler, started } = yield* start({ isOpen })
        fails = true
        const command = yield* scheduler.enqueue(job())
        assert.strictEqual(yield* stateOf(command.job), "queued")
        fails = false
        yield* Wakeup.Wakeup.use(({ wake }) => wake)
        assert.strictEqual((yield* started).job, command.job)
        assert.deepStrictEqual(claimed, [command.job])
      }))

    it.effect("hands over no job to a worker that drains", () =>
      Effect.gen(function*() {
        const { job, scheduler, worker } = yield* start()
        yield* worker.drain
        const command = yield* scheduler.enqueue(job())
        assert.strictEqual(yield* stateOf(command.job), "queued")
      }))
  })
