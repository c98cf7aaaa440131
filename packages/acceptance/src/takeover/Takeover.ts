/** Kills workers with jobs, and measures how long it takes until another worker runs each job. */
import { JobKind, Scheduler } from "@kinora/scheduler"
import { Clock, Effect, Schema } from "effect"
import { fileURLToPath } from "node:url"
import * as LongPolls from "../LongPolls.ts"
import * as Program from "../Program.ts"

/** The line that a worker prints for each job that it starts. */
export const Started = Schema.fromJsonString(Schema.Struct({ job: Schema.String, at: Schema.Number }))

/** The kind of the jobs of a group, which only the workers of the group claim. */
export const kindOf = (group: string): JobKind.JobKind<typeof Payload.Type> =>
  JobKind.make({ name: `takeover-${group}`, payload: Payload })

/** Options of `measure`. */
export interface TakeoverOptions {
  /** URL of the database of the workers. */
  readonly url: string
  readonly kills: number
  /** Groups of workers that are killed at the same time. Each has a victim and an heir. */
  readonly groups: number
  /** Runs after each kill whose jobs were taken over, with the number of kills so far. */
  readonly onKill: (kills: number) => Effect.Effect<void>
}

/** Result of `measure`. */
export interface Takeovers {
  /** Milliseconds from each kill until another worker started each job, in ascending order. */
  readonly times: ReadonlyArray<number>
  /** Jobs that another worker started before the kill of the worker that ran them. */
  readonly overlaps: number
  /** Jobs that no worker had started a minute after the kill. */
  readonly lost: number
}

/** Jobs that run on each worker that is killed. */
export const jobsPerKill = 4

/** Kills workers one after the other in each group, and returns how long the jobs waited. */
export const measure = Effect.fn("Takeover.measure")(function*({ groups, kills, onKill, url }: TakeoverOptions) {
  let killed = 0
  const round = Effect.suspend(() => onKill(++killed))
  const results = yield* Effect.forEach(
    Array.from({ length: groups }, (_, group) => Math.floor((kills + group) / groups)),
    (count, group) => measureGroup(url, String(group), count, round),
    { concurrency: "unbounded" }
  )
  const waits = results.flat()
  const taken = waits.flatMap((wait) => wait ?? [])
  const takeovers: Takeovers = {
    times: taken.filter((wait) => wait >= 0).toSorted((a, b) => a - b),
    overlaps: taken.filter((wait) => wait < 0).length,
    lost: waits.length - taken.length
  }
  return takeovers
})

/** Returns the time of a takeover that no more than this share of the others exceeds, in seconds. */
export const quantile = ({ times }: Takeovers, share: number): number => LongPolls.quantile(times, share) / 1000

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const Payload = Schema.Struct({})

const script = fileURLToPath(new URL("./worker.ts", import.meta.url))

/** How long a job may wait for its next worker. */
const waitMax = "60 seconds"

const startWorker = (url: string, group: string) => Program.startScript({ file: script, args: [url, group] })

/** Returns the milliseconds that each job waited, less than 0 if it started before the kill; `undefined` if it did not start. */
const measureGroup = Effect.fnUntraced(
  function*(url: string, group: string, kills: number, round: Effect.Effect<void>) {
    const waits: Array<number | undefined> = []
    let victim = yield* startWorker(url, group)
    for (let kill = 0; kill < kills; kill++) {
      const jobs = yield* enqueue(group, kill)
      yield* startTimes(victim, jobs)
      const heir = yield* startWorker(url, group)
      const killedAt = yield* Clock.currentTimeMillis
      yield* victim.kill
      const times = yield* startTimes(heir, jobs)
      waits.push(...jobs.map((job) => {
        const startedAt = times.get(job)
        return startedAt === undefined ? undefined : startedAt - killedAt
      }))
      yield* round
      victim = heir
    }
    yield* victim.kill
    return waits
  }
)

/** Enqueues jobs, each in a lane of its own, so that all of them run at the same time. */
const enqueue = Effect.fnUntraced(function*(group: string, kill: number) {
  const scheduler = yield* Scheduler.Scheduler
  const jobs = Array.from({ length: jobsPerKill }, (_, n) => {
    const number = String(kill * jobsPerKill + n).padStart(8, "0")
    return `00000000-0000-4000-8000-${group.padStart(4, "0")}${number}`
  })
  const kind = kindOf(group)
  yield* Effect.forEach(
    jobs,
    (job) => scheduler.enqueue({ job, lane: job, group: job, cap: 1, kind, payload: {} }),
    { concurrency: "unbounded" }
  )
  return jobs
})

/** Waits until a worker has started these jobs, and returns when it did. Returns fewer if it takes too long. */
const startTimes = (worker: Program.Program, jobs: ReadonlyArray<string>) => {
  const started = Effect.map(worker.printed, ({ stdout }) => {
    // The last line may be incomplete. The others are jobs, and messages of the log.
    const lines = stdout.split("\n").slice(0, -1).filter((line) => line.startsWith("{"))
      .map((line) => Schema.decodeSync(Started)(line))
    return new Map(lines.filter(({ job }) => jobs.includes(job)).map(({ at, job }) => [job, at]))
  })
  return Effect.delay(started, "50 millis").pipe(
    Effect.repeat({ until: (found) => found.size === jobs.length }),
    Effect.timeoutOrElse({ duration: waitMax, orElse: () => started })
  )
}
