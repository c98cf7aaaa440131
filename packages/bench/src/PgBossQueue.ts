/** pg-boss. Its cap is `groupConcurrency`, which each fetch checks in the database. */
import { Effect } from "effect"
import { setTimeout as sleep } from "node:timers/promises"
import { PgBoss } from "pg-boss"
import { attempt, type Environment } from "./Benchmark.ts"
import { cap, jobMillis, type JobQueue } from "./JobQueue.ts"

/** Creates the queue. */
export const make = Effect.fnUntraced(function*({ database }: Environment) {
  const url = yield* database
  const boss = yield* start(url)

  const insert = (groups: ReadonlyArray<string>) =>
    attempt("Jobs could not be added", async () => {
      for (let first = 0; first < groups.length; first += jobsPerSet) {
        await boss.insert(name, groups.slice(first, first + jobsPerSet).map((id) => ({ data: {}, group: { id } })))
      }
    })

  const queue: JobQueue = {
    name: "pg-boss",
    database: url,
    empty: attempt("The jobs could not be deleted", () => boss.deleteAllJobs(name)),
    fill: (jobs, groups) => insert(Array.from({ length: jobs }, (_, n) => `group-${n % groups}`)),
    block: (jobs) =>
      Effect.andThen(
        insert(Array.from({ length: cap + jobs }, () => blockedGroup)),
        attempt("Jobs could not be taken", () => boss.fetch(name, { batchSize: cap }))
      ).pipe(Effect.asVoid),
    add: Effect.asVoid(attempt("A job could not be added", () => boss.send(name, {}))),
    workInBatches: (run) =>
      loops(boss, 8, 100, (jobs) => {
        for (let job = 0; job < jobs; job++) run()
      }),
    workSingly: (run) =>
      loops(boss, 16, 1, async () => {
        run()
        await sleep(jobMillis)
      }),
    workPromptly: (run) =>
      Effect.asVoid(Effect.acquireRelease(
        attempt("pg-boss does not work", () =>
          boss.work(name, { pollingIntervalSeconds: 0.5 }, async () => {
            run()
          })),
        (id) => Effect.promise(() => boss.offWork(name, { id, wait: true }))
      )),
    isDone,
    isOverCap
  }
  return queue
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const name = "bench"
const blockedGroup = "blocked"
const jobsPerSet = 1_000

const isDone = `
  SELECT NOT EXISTS (
    SELECT 1 FROM pgboss.job
    WHERE name = '${name}' AND state < 'completed' AND group_id IS DISTINCT FROM '${blockedGroup}'
  ) AS done
`

const isOverCap = `
  SELECT EXISTS (
    SELECT 1 FROM pgboss.job WHERE name = '${name}' AND state = 'active' GROUP BY group_id HAVING count(*) > ${cap}
  ) AS over
`

const start = (url: string) =>
  Effect.acquireRelease(
    attempt("pg-boss does not start", async () => {
      const boss = new PgBoss({
        connectionString: url,
        max: 25,
        supervise: false,
        schedule: false,
        useListenNotify: true
      })
      boss.on("error", () => {})
      await boss.start()
      await boss.createQueue(name, { notify: true })
      return boss
    }),
    (boss) => Effect.promise(() => boss.stop({ graceful: false }))
  )

/** Runs loops that fetch, run and complete jobs until the scope closes. */
const loops = (boss: PgBoss, count: number, batchSize: number, work: (jobs: number) => Promise<void> | void) =>
  Effect.asVoid(Effect.acquireRelease(
    Effect.sync(() => {
      const end = new AbortController()
      const loop = async () => {
        while (!end.signal.aborted) {
          const jobs = await boss.fetch(name, { batchSize, groupConcurrency: cap })
          if (jobs.length === 0) {
            await sleep(1)
            continue
          }
          await work(jobs.length)
          await boss.complete(name, jobs.map(({ id }) => id))
        }
      }
      const ended = Promise.all(Array.from({ length: count }, loop))
      return () => {
        end.abort()
        return ended
      }
    }),
    (end) => Effect.promise(end)
  ))
