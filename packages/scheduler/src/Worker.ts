/**
 * Claims jobs, runs them, keeps their leases, settles them in sets, takes over the
 * jobs of workers that were lost, and gives its own back when it has to stop.
 *
 * One fiber claims for the whole worker, so a batch grows by itself while the last one
 * is being claimed. It sleeps when nothing is queued, and wakes by `Wakeup`.
 */
import * as Decision from "@kinora/persistence/Decision"
import * as Folding from "@kinora/persistence/Folding"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Context, Duration, Effect, Fiber, Latch, Layer, Random, Schedule } from "effect"
import * as Metrics from "./internal/metrics.ts"
import * as RunningJobs from "./internal/RunningJobs.ts"
import type { ClaimedJob } from "./Job.ts"
import { AttemptsExhausted, type JobFailure, type JobHandler, type Settlement } from "./JobHandler.ts"
import * as Lanes from "./Lanes.ts"
import { type ClaimOptions, Scheduler } from "./Scheduler.ts"
import { Wakeup } from "./Wakeup.ts"

/** A worker in this process. It works from when its layer is built, and drains when the layer's scope closes. */
export class Worker extends Context.Service<Worker, {
  /** The jobs that it holds now. */
  readonly running: Effect.Effect<ReadonlyArray<ClaimedJob>>
  /**
   * Stops claiming, lets running jobs finish for the grace time, interrupts the others
   * and releases them with their checkpoints. Returns when it holds no job any more;
   * the worker does not start again. Calling it again waits for the same end.
   */
  readonly drain: Effect.Effect<void>
}>()("@kinora/scheduler/Worker") {}

/** How a worker works. */
export interface WorkerOptions {
  /** Its name, for people: shown with the jobs that it holds. */
  readonly name: string
  /** One per kind; several of one kind are a defect. */
  readonly handlers: ReadonlyArray<JobHandler>
  /** Jobs at the same time; 0 makes a worker that does nothing. Default 8. */
  readonly concurrency?: number | undefined
  /** Jobs per claim, and per rescue. Default 64. */
  readonly claimMax?: number | undefined
  /** How often it looks for work that nobody told it about. Default 5 seconds. */
  readonly pollInterval?: Duration.Input | undefined
  /** How long its jobs are safe from others without a heartbeat. Default 30 seconds. */
  readonly lease?: Duration.Input | undefined
  /** How often it extends its leases. Default a third of the lease. */
  readonly heartbeatInterval?: Duration.Input | undefined
  /** How often it looks for leases that ran out, spread by half so that workers take turns. Default a third of the lease. */
  readonly rescueInterval?: Duration.Input | undefined
  /** How long a drain lets jobs finish (D51). Default 30 seconds. */
  readonly grace?: Duration.Input | undefined
}

/** Starts a worker that drains when the scope closes. */
export const make = Effect.fnUntraced(function*(options: WorkerOptions) {
  const { claimMax = 64, concurrency = 8, grace = "30 seconds", lease = "30 seconds", pollInterval = "5 seconds" } =
    options
  const aThird = Duration.divideUnsafe(Duration.fromInputUnsafe(lease), 3)
  const { heartbeatInterval = aThird, rescueInterval = aThird } = options
  const scheduler = yield* Scheduler
  const unitOfWork = yield* UnitOfWork
  const { atomically } = unitOfWork
  const wakeup = yield* (yield* Wakeup).subscribe

  const running = RunningJobs.make(concurrency)
  const kinds = options.handlers.map(({ kind }) => kind)
  if (new Set(kinds).size < kinds.length) {
    return yield* Effect.die(
      new Error(`The worker ${options.name} has several handlers of one kind: ${kinds.join(", ")}`)
    )
  }
  const claimOptions = (limit: number): ClaimOptions => ({ worker: options.name, kinds, limit, lease })

  const run = new Map(options.handlers.map((handler) => [
    handler.kind,
    handler.prepare((name, settle = settleOnly(scheduler)) =>
      Folding.makeWith(unitOfWork, {
        name,
        membersMax: settledMax,
        run: (settlements) => Effect.as(atomically(settle(settlements)), settlements.map(() => undefined))
      })
    )
  ]))

  const start = (job: ClaimedJob, failure?: JobFailure) =>
    running.start(job, (settling) =>
      existing(run, job.kind)(job, failure).pipe(
        Effect.tap(() => settling),
        Effect.flatMap((settle) =>
          Effect.retry(settle, { schedule: settleRetries, while: (error) => error.isRetryable })
        ),
        Effect.catchCause((cause) =>
          Effect.logError("A job could not be settled; another attempt follows when its lease runs out", cause)
        ),
        Metrics.hold,
        Effect.withSpan("Worker.job", { root: true, attributes: { kind: job.kind, attempt: job.attempt } }),
        Effect.annotateLogs({ job: job.job, kind: job.kind, attempt: job.attempt })
      ))

  const announce = (jobs: ReadonlyArray<ClaimedJob>) =>
    Effect.forEach(options.handlers, ({ claimed, kind }) => {
      const own = jobs.filter((job) => job.kind === kind)
      return claimed === undefined || own.length === 0 ? Effect.void : claimed(own)
    }, { discard: true })

  const claimAnnounced = options.handlers.some(({ claimed }) => claimed !== undefined)
    ? (limit: number) => atomically(Effect.tap(scheduler.claim(claimOptions(limit)), announce))
    : (limit: number) => scheduler.claim(claimOptions(limit))

  /** Answers whether there may be more. Not interrupted half-way: a job that was claimed is run, or released. */
  const claim = Effect.gen(function*() {
    wakeup.closeUnsafe()
    const limit = Math.min(claimMax, running.room())
    const jobs = yield* claimAnnounced(limit)
    yield* Effect.forEach(jobs, (job) => start(job), { discard: true })
    return jobs.length === limit
  }).pipe(goOn("Claiming jobs failed", false), Effect.uninterruptible)

  const claiming = Effect.gen(function*() {
    yield* running.hasRoom
    const more = yield* claim
    if (!more) yield* Effect.timeoutOption(wakeup.await, pollInterval)
  }).pipe(Effect.forever)

  const rescue = Effect.gen(function*() {
    const { exhausted, requeued } = yield* scheduler.rescue(claimOptions(claimMax))
    for (const { job } of requeued) {
      yield* Effect.logWarning("A job's worker was lost; the job is queued again", { job })
    }
    yield* Effect.forEach(
      exhausted,
      (job) => start(job, new AttemptsExhausted({ job: job.job, attempts: job.attempt })),
      { discard: true }
    )
    return exhausted.length + requeued.length === claimMax
  }).pipe(goOn("Rescuing lost jobs failed", false), Effect.uninterruptible)

  /** Begins with a rescue: a worker that starts again after a crash may find what it left. */
  const rescuing = Effect.gen(function*() {
    while (yield* rescue);
    const spread = yield* Random.nextBetween(0.5, 1.5)
    yield* Effect.sleep(Duration.times(Duration.fromInputUnsafe(rescueInterval), spread))
  }).pipe(Effect.forever)

  const heartbeat = Effect.gen(function*() {
    for (const lost of yield* scheduler.heartbeat(running.jobs(), lease)) {
      // One that settles finds out by itself, and may have been why the job is gone.
      if (!running.isWorking(lost)) continue
      yield* Effect.logWarning("The lease of a job was lost; its run is interrupted", { job: lost.job })
      running.interrupt(lost)
    }
  }).pipe(goOn("Extending leases failed", undefined))

  const beating = Effect.andThen(Effect.sleep(heartbeatInterval), heartbeat).pipe(Effect.forever)

  const fibers = concurrency === 0 ? [] : yield* Effect.forEach([claiming, rescuing], (loop) => Effect.forkScoped(loop))
  const heart = yield* Effect.forkScoped(beating)
  yield* Metrics.offer(concurrency)

  const drained = Latch.makeUnsafe(false)
  let draining = false
  const stop = Effect.gen(function*() {
    yield* Fiber.interruptAll(fibers)
    yield* Effect.timeoutOption(Effect.interruptible(running.isEmpty), grace)
    const left = running.jobs()
    // Who settles already may come to an end.
    for (const job of left) if (running.isWorking(job)) running.interrupt(job)
    yield* Effect.timeoutOption(Effect.interruptible(running.isEmpty), interruptionMax)
    for (const job of left) running.interrupt(job)
    yield* goOn("Releasing jobs failed; they are rescued when their leases run out", undefined)(scheduler.release(left))
    yield* Fiber.interrupt(heart)
  }).pipe(Effect.ensuring(drained.open), Effect.withSpan("Worker.drain"))

  const drain = Effect.suspend(() => {
    const first = !draining
    draining = true
    // On a fiber of its own, so that whoever gives up waiting does not stop it.
    return first ? Effect.andThen(Effect.forkDetach(stop), drained.await) : drained.await
  })
  yield* Effect.addFinalizer(() => drain)

  return Worker.of({ running: Effect.sync(() => running.jobs()), drain })
})

/** A worker that works as long as the layer lives. */
export const layer = (options: WorkerOptions): Layer.Layer<Worker, never, Scheduler | UnitOfWork | Wakeup> =>
  Layer.effect(Worker, make(options))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Jobs that one unit settles: as many as a host can run at the same time. */
const settledMax = 256

/** How long a drain waits for interrupted jobs to clean up. They are released all the same. */
const interruptionMax = Duration.seconds(5)

/** As long as the storage is away, or until the drain; nobody else has the job meanwhile, or its lease is refused. */
const settleRetries = Schedule.min([Schedule.exponential("100 millis"), Schedule.spaced("5 seconds")]).pipe(
  Schedule.jittered
)

/** A loop outlives what fails in it: the next round tries again. */
const goOn = <B>(message: string, otherwise: B) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.catchCause(effect, (cause) => Effect.as(Effect.logError(message, cause), otherwise))

/** Ends the jobs, of which the application keeps nothing. */
const settleOnly = (scheduler: Scheduler["Service"]) =>
  Effect.fnUntraced(function*(settlements: ReadonlyArray<Settlement<unknown>>) {
    const jobs = settlements.map(({ job }) => job)
    const { state } = Decision.all(yield* scheduler.load({ jobs }), jobs, Lanes.settle)
    yield* scheduler.save(state)
  })

const existing = <A>(map: ReadonlyMap<string, A>, kind: string): A => {
  const found = map.get(kind)
  if (found === undefined) throw new Error(`There is no handler for jobs of the kind ${kind}`)
  return found
}
