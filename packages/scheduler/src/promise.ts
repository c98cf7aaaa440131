/**
 * The scheduler for programs without Effect.
 *
 *     const scheduler = await createScheduler({ pool })
 *     await scheduler.enqueue({ lane: "ada/render", group: "ada", cap: 1, kind: "render", payload: { scene: "dawn" }, tx })
 *     await scheduler.work({ name: "worker-1", handlers: { render: async (job) => { … } } })
 *
 * Every call has the rules of the services `Scheduler` and `Worker`. A call throws a `SchedulerError` with a
 * `code` if it is refused, and a `StorageFailedError` if the database fails.
 */
import * as Backend from "@kinora/persistence/Backend"
import { type CallOptions, checkInputs, type Layers, make, type Plain, type Storage } from "@kinora/persistence/promise"
import type { StorageError } from "@kinora/persistence/StorageError"
import { Context, type Duration, Effect, Layer, type Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import * as CronSchedule from "./CronSchedule.ts"
import type { Forgotten } from "./internal/makeForget.ts"
import { errorOf } from "./internal/promise/errors.ts"
import { type Handlers, handlersOf, kindOf } from "./internal/promise/handlers.ts"
import { inputs } from "./internal/promise/inputs.ts"
import { scheduleOf, type ScheduleOptions, type Schedules } from "./internal/promise/schedules.ts"
import type { CapCommand, Delay, Enqueue, ForgetCommand, NotificationOptions, Placed } from "./internal/requests.ts"
import type * as Store from "./internal/storeTypes.ts"
import type { WorkerOptions } from "./internal/worker/settings.ts"
import type { ClaimedJob, JobAddress, JobStatus } from "./Job.ts"
import * as MemorySchedulerStore from "./MemorySchedulerStore.ts"
import * as Service from "./Scheduler.ts"
import type { SchedulerError as Refusal } from "./SchedulerError.ts"
import * as Wakeup from "./Wakeup.ts"
import * as WorkerService from "./Worker.ts"

export { StorageFailedError } from "@kinora/persistence/promise"
export {
  AlreadyRunningError,
  AttemptsExhaustedError,
  DuplicateJobError,
  InvalidJobIdError,
  InvalidPriorityError,
  JobNotFoundError,
  LeaseLostError,
  QueueFullError,
  SchedulerError,
  TimeLimitExceededError
} from "./internal/promise/errors.ts"
export type { Handler, Job, JobContext } from "./internal/promise/handlers.ts"
export type { Schedule, Schedules } from "./internal/promise/schedules.ts"

/** Options of `createScheduler`: the storage, and the options of the service. */
export type CreateSchedulerOptions = Storage & Service.SchedulerOptions & NotificationOptions

/** Adds a job to a lane. */
export interface EnqueueCommand extends CallOptions, Delay, Omit<Enqueue<Schema.Json>, "job" | "kind"> {
  /** A UUID in lower case, or another text of 1 to 255 characters, unique among the jobs that have not ended. Default: a random UUID. */
  readonly job?: string | undefined
  /** The name by which handlers are chosen. It is stored with each job, so do not rename it. */
  readonly kind: string
  /** Restricts the job to workers that serve this pool of the kind. Default: none. */
  readonly pool?: string | undefined
}

/** Options of a worker: those of `Worker.layer`, and handlers that return promises. */
export interface WorkOptions extends Omit<WorkerOptions, "handlers"> {
  readonly handlers: Handlers
  /** Drains the worker when it aborts, like `close`. */
  readonly signal?: CallOptions["signal"]
}

/** A worker of this process. */
export interface Worker extends AsyncDisposable {
  /** Returns the jobs that it holds. */
  readonly running: () => Promise<ReadonlyArray<Plain<Omit<ClaimedJob, "payload" | "checkpoint">>>>
  /**
   * Stops claiming, waits up to `grace` for running jobs, then aborts the signals of the remaining ones, and returns them
   * to the queue with their checkpoints. Idempotent.
   */
  readonly close: () => Promise<void>
}

/** A query for the jobs that no worker has started. */
interface WaitingQuery extends CallOptions {
  /** Only jobs that were enqueued longer ago. */
  readonly age: Duration.Input
  readonly limit: number
}

type JobCall = CallOptions & Pick<JobAddress, "job">

/** A scheduler. Its calls are those of the service `Scheduler`, whose documentation describes them. */
export interface Scheduler extends AsyncDisposable {
  /**
   * Enqueues a job. Throws `QueueFullError`, `DuplicateJobError`, `InvalidJobIdError` or `InvalidPriorityError`. In a transaction of the program, the commit
   * wakes the workers of all processes that wait for notifications.
   */
  readonly enqueue: (
    command: EnqueueCommand
  ) => Promise<Placed>
  /** Throws `QueueFullError` if a job of this lane would be refused now. Reserves nothing. */
  readonly checkRoom: (
    request: CallOptions & Pick<EnqueueCommand, "lane" | "group" | "cap" | "waitingMax">
  ) => Promise<void>
  /** Cancels a job, delayed ones included, that no worker has started. Throws `JobNotFoundError` or `AlreadyRunningError`. */
  readonly cancel: (command: JobCall) => Promise<JobAddress & Pick<JobStatus, "state">>
  /** Takes a running job from its worker. Returns whether it was running. Throws `JobNotFoundError`. */
  readonly requeue: (command: JobCall) => Promise<boolean>
  /**
   * Deletes the jobs and lanes of a group. Leaves running jobs, unless `abort` is set, and returns how many are left. Repeat a call
   * that was ended early. `limit` is the maximum number of rows in one unit of work. Default 1,000.
   */
  readonly forget: (command: CallOptions & ForgetCommand) => Promise<Forgotten>
  /** Sets the number of slots of a lane, and its weight. Returns the jobs that got a slot. */
  readonly setCap: (command: CallOptions & CapCommand) => Promise<{ readonly promoted: ReadonlyArray<string> }>
  /** Gives slots of jobs that no worker claims to jobs that one claims. Call it every few seconds if kinds have pools. */
  readonly swapSlots: (command: CallOptions & { readonly limit: number }) => Promise<Plain<Store.Swapped>>
  /** Returns the jobs with these ids that have not ended. */
  readonly find: (jobs: ReadonlyArray<string>, options?: CallOptions) => Promise<ReadonlyArray<Plain<JobStatus>>>
  /** Returns jobs that no worker has started, oldest first. */
  readonly waiting: (query: WaitingQuery) => Promise<ReadonlyArray<Plain<JobStatus>>>
  /** Returns a page of the lanes that have jobs, by id. */
  readonly lanes: (query: CallOptions & Store.LaneSelection) => Promise<ReadonlyArray<Plain<Store.LaneStatus>>>
  /** Counts the jobs and the workers of each kind and pool. */
  readonly queues: (options?: CallOptions) => Promise<ReadonlyArray<Plain<Store.Queue>>>
  /** Returns a page of the workers of all processes, by id. */
  readonly workers: (query: CallOptions & Store.WorkerSelection) => Promise<ReadonlyArray<Plain<Store.WorkerStatus>>>
  /** Asks a worker of any process to claim no more jobs. Returns `false` if there is no such worker. */
  readonly drain: (command: CallOptions & { readonly worker: string }) => Promise<boolean>
  /** Withdraws `drain`. */
  readonly resume: (command: CallOptions & { readonly worker: string }) => Promise<boolean>
  /** Compares the counters with the jobs. */
  readonly verify: (options?: CallOptions) => Promise<ReadonlyArray<Store.Drift>>
  /** Counts all jobs again, and corrects the counters. */
  readonly rebuild: (options?: CallOptions) => Promise<void>
  /** Wakes the workers of this process, so that they look for jobs now. Needed after a commit only without notifications. */
  readonly wake: () => Promise<void>
  /** Starts a worker in this process. It works until its `close`, until `signal` aborts, or until the scheduler closes. */
  readonly work: (options: WorkOptions) => Promise<Worker>
  /**
   * Enqueues the jobs of cron schedules while this process has them, each tick once over all processes. Rejects if an
   * expression or a number is invalid. A worker runs the jobs, here or in another process.
   */
  readonly schedule: (options: ScheduleOptions) => Promise<Schedules>
  /** Closes the workers and schedules of this process, and the connections that the scheduler has opened itself. */
  readonly close: () => Promise<void>
}

/**
 * Creates a scheduler. Brings its tables up to date first. Rejects if the database is unavailable, or a newer build has
 * removed something from them.
 */
export const createScheduler = async (options: CreateSchedulerOptions): Promise<Scheduler> => {
  const runtime = await make(layersOf(options), options)
  const call = <A>(
    options: CallOptions = {},
    effect: (scheduler: Service.Scheduler["Service"]) => Effect.Effect<A, Refusal | StorageError>
  ) => runtime.run(Service.Scheduler.use(effect), options, errorOf)

  return checkInputs<Scheduler>({
    enqueue: (command) => {
      const { kind, pool, signal, tx, ...rest } = command
      const id = command.job === undefined
        ? SecureRandom.SecureRandom.use(({ uuidV7 }) => uuidV7())
        : Effect.succeed(command.job)
      const enqueued = Effect.flatMap(
        id,
        (job) => Service.Scheduler.use(({ enqueue }) => enqueue({ ...rest, job, kind: kindOf(kind, pool) }))
      )
      return runtime.run(enqueued, { signal, tx }, errorOf)
    },
    checkRoom: (request) => call(request, ({ checkRoom }) => checkRoom(request)),
    cancel: (command) => call(command, ({ cancel }) => cancel(command.job)),
    requeue: (command) => call(command, ({ requeue }) => requeue(command.job)),
    forget: (command) =>
      call(command, ({ forget }) => forget({ group: command.group, abort: command.abort, limit: command.limit })),
    setCap: (command) => call(command, ({ setCap }) => setCap(command)),
    swapSlots: (command) => call(command, ({ swapSlots }) => swapSlots(command.limit)),
    find: (jobs, options) => call(options, ({ find }) => find(jobs)),
    waiting: (query) => call(query, ({ waiting }) => waiting(query.age, query.limit)),
    lanes: (query) => call(query, ({ lanes }) => lanes(query)),
    queues: (options) => call(options, ({ queues }) => queues),
    workers: (query) => call(query, ({ workers }) => workers(query)),
    drain: (command) => call(command, ({ drain }) => drain(command.worker)),
    resume: (command) => call(command, ({ resume }) => resume(command.worker)),
    verify: (options) => call(options, ({ verify }) => verify),
    rebuild: (options) => call(options, ({ rebuild }) => rebuild),
    wake: () => runtime.run(Wakeup.Wakeup.use(({ wake }) => wake), {}, errorOf),
    work: async ({ handlers, signal, ...options }) => {
      const built = Wakeup.Wakeup.use(({ wake }) =>
        Layer.build(WorkerService.layer({ ...options, handlers: handlersOf(handlers, runtime, wake) }))
      )
      const { close, value } = await runtime.open(built, { signal }, errorOf)
      const { running } = Context.get(value, WorkerService.Worker)
      return { running: () => runtime.run(running, {}, errorOf), close, [Symbol.asyncDispose]: close }
    },
    schedule: async ({ schedules, signal }) => {
      const layer = CronSchedule.layer({ schedules: schedules.map(scheduleOf) })
      const { close } = await runtime.open(Layer.build(layer), { signal }, errorOf)
      return { close, [Symbol.asyncDispose]: close }
    },
    close: runtime.close,
    [Symbol.asyncDispose]: runtime.close
  }, inputs)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Services = Service.Scheduler | Wakeup.Wakeup | SecureRandom.SecureRandom

const layersOf = (options: CreateSchedulerOptions): Layers<Services> => ({
  memory: Layer.mergeAll(
    Service.layerWith(options).pipe(Backend.memory(MemorySchedulerStore.layer), Layer.provideMerge(Wakeup.layer)),
    SecureRandom.layerWebCrypto
  ),
  postgres: Layer.merge(Service.layerPostgres(options), SecureRandom.layerWebCrypto)
})
