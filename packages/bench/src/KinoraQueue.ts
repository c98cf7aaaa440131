/** The scheduler of Kinora with one lane per group, and its worker. */
import { Decision, UnitOfWork } from "@kinora/persistence"
import { JobHandler, JobKind, Lanes, Scheduler, Worker } from "@kinora/scheduler"
import { Effect, Layer, Result, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { attempt, type Environment, failingWith } from "./Benchmark.ts"
import { cap, jobMillis, type JobQueue } from "./JobQueue.ts"
import * as KinoraServices from "./KinoraServices.ts"
import * as PostgresServer from "./PostgresServer.ts"
import * as SortedIds from "./SortedIds.ts"

/** Creates the queue. */
export const make = Effect.fnUntraced(function*({ database }: Environment) {
  const url = yield* database
  const services = yield* Layer.build(KinoraServices.layer(url)).pipe(failingWith("Kinora does not start"))
  const provided = <A, E, R extends KinoraServices.KinoraServices>(effect: Effect.Effect<A, E, R>) =>
    effect.pipe(Effect.provideContext(services), failingWith("The scheduler failed"))

  const startWorker = (run: Effect.Effect<void>, concurrency: number) =>
    Effect.provideContext(
      Layer.build(Worker.layer({ name: "bench", handlers: [handlerOf(run)], concurrency })),
      services
    )
  const queue: JobQueue = {
    name: "kinora",
    database: url,
    empty: PostgresServer.truncate(url, "scheduler_job", "scheduler_delayed", "scheduler_lane", "scheduler_group"),
    fill: (jobs, groups) => provided(enqueueAll(Array.from({ length: jobs }, (_, n) => `lane-${n % groups}`))),
    block: Effect.fnUntraced(function*(jobs) {
      const scheduler = yield* Scheduler.Scheduler
      yield* enqueueAll(Array.from({ length: cap + jobs }, () => blockedLane))
      const worker = { worker: "busy", kinds: [kind.name] }
      const lease = yield* scheduler.takeLease({ ...worker, id: "busy", slots: cap, ttl: "1 hour" })
      yield* scheduler.claim({ ...worker, lease, limit: cap })
    }, provided),
    add: provided(
      Effect.gen(function*() {
        const scheduler = yield* Scheduler.Scheduler
        const job = yield* SecureRandom.SecureRandom.use((random) => random.uuidV7())
        yield* scheduler.enqueue({ job, lane: "lane", group: "lane", kind, payload: {}, cap })
      })
    ),
    workInBatches: (run) => Effect.asVoid(startWorker(Effect.sync(run), 200)),
    workSingly: (run) =>
      Effect.replicateEffect(
        startWorker(Effect.andThen(Effect.sync(run), Effect.sleep(jobMillis)), 4),
        4,
        { discard: true }
      ),
    workPromptly: (run) => Effect.asVoid(startWorker(Effect.sync(run), 8)),
    isDone: `SELECT NOT EXISTS (SELECT 1 FROM scheduler_job WHERE lane_id <> '${blockedLane}') AS done`,
    isOverCap: `
      SELECT EXISTS (
        SELECT 1 FROM scheduler_job WHERE state = 'running' GROUP BY lane_id HAVING count(*) > ${cap}
      ) AS over
    `
  }
  return queue
})

/**
 * Adds any number of jobs, one per millisecond until now, to the first lanes of `fill`. Their slots must be taken, so that the jobs
 * wait for one.
 */
export const addPending = (database: string, jobs: number, groups: number) =>
  attempt("Jobs could not be added", () =>
    PostgresServer.run(
      database,
      `INSERT INTO scheduler_job (id, lane_id, group_id, kind, payload, state, attempts_max, enqueued_at)
       SELECT
         ${SortedIds.uuidInSql("enqueued_at", "md5(n::text)")}, 'lane-' || n % ${groups}, 'lane-' || n % ${groups},
         '${kind.name}', '{}', 'pending', 3, enqueued_at
       FROM generate_series(1, ${jobs}) AS n
       CROSS JOIN LATERAL (SELECT now() - (${jobs} - n) * interval '1 millisecond' AS enqueued_at) AS job`,
      ...["lane", "group"].map((counter) =>
        `UPDATE scheduler_${counter} AS counter SET waiting = found.waiting
         FROM (SELECT lane_id, count(*) AS waiting FROM scheduler_job WHERE state = 'pending' GROUP BY lane_id) AS found
         WHERE counter.id = found.lane_id`
      )
    ))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const blockedLane = "blocked"
const jobsPerUnit = 1_000

const kind = JobKind.make({ name: "bench", payload: Schema.Struct({}) })

const handlerOf = (run: Effect.Effect<void>) =>
  JobHandler.make({ kind, run: () => run, failed: (_, cause) => Effect.logError("A job failed", cause) })

/** Enqueues one job per lane, in order. Each lane has its own group. */
const enqueueAll = Effect.fnUntraced(function*(lanes: ReadonlyArray<string>) {
  for (let first = 0; first < lanes.length; first += jobsPerUnit) {
    yield* enqueueSet(lanes.slice(first, first + jobsPerUnit))
  }
})

const enqueueSet = Effect.fnUntraced(function*(lanes: ReadonlyArray<string>) {
  const { atomically } = yield* UnitOfWork.UnitOfWork
  const scheduler = yield* Scheduler.Scheduler
  const ids = yield* Effect.replicateEffect(
    SecureRandom.SecureRandom.use((random) => random.uuidV7()),
    lanes.length
  )
  yield* atomically(Effect.gen(function*() {
    const commands = lanes.map((lane, index) => ({
      job: ids[index]!,
      lane,
      group: lane,
      kind,
      payload: {},
      cap,
      waitingMax: Infinity
    }))
    const { results, state } = Decision.all(yield* scheduler.load({ lanes: commands }), commands, Lanes.enqueue)
    results.forEach((result) => Result.getOrThrow(result))
    yield* scheduler.save(state)
  }))
})
