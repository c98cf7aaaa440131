/** Makes workers with jobs fail, and measures how long it takes until another worker runs each job, and whether the first one stops in time. */
import { Scheduler } from "@kinora/scheduler"
import { Effect } from "effect"
import * as LongPolls from "../LongPolls.ts"
import * as TakeoverJobs from "./TakeoverJobs.ts"
import * as TakeoverWorker from "./TakeoverWorker.ts"

/** Options of `measure`. */
export interface TakeoverOptions {
  /** URL of the database of the workers. */
  readonly url: string
  readonly fault: TakeoverWorker.Fault
  /** Milliseconds that a run may continue after the lease of its worker has ended. Default `toleranceMillis`. */
  readonly tolerance?: number | undefined
  /** Number of workers that fail. */
  readonly kills: number
  /** Groups in which workers fail at the same time. Each has a victim and an heir. */
  readonly groups: number
  /** Runs after each worker whose jobs were taken over, with the number of such workers so far. */
  readonly onKill: (kills: number) => Effect.Effect<void>
}

/** Result of `measure`. */
export interface Takeovers {
  /** Milliseconds from each failure until another worker started each job, in ascending order. */
  readonly times: ReadonlyArray<number>
  /** Jobs that two workers ran at the same time for more than the tolerance, or at all if the first one was killed. */
  readonly overlaps: number
  /** Jobs that no worker had started a minute after the failure. */
  readonly lost: number
  /**
   * Milliseconds from the latest possible end of the lease, or from when a suspended worker continued, until each run of a
   * worker that was not killed ended, in ascending order. Negative if the run ended earlier.
   */
  readonly stops: ReadonlyArray<number>
  /** Runs that ended more than the tolerance after that time, or not within a minute. */
  readonly late: number
}

/** Jobs that run on each worker that fails. */
export const jobsPerKill = 4

/** How long a run may continue after the lease of its worker has ended, on a machine that is not overloaded. */
export const toleranceMillis = 1_000

/** Makes workers fail, one after the other in each group, and returns how long their jobs waited and their runs continued. */
export const measure = Effect.fn("Takeover.measure")(
  function*({ fault, groups, kills, onKill, tolerance = toleranceMillis, url }: TakeoverOptions) {
    let killed = 0
    const round = Effect.suspend(() => onKill(++killed))
    const results = yield* Effect.forEach(
      Array.from({ length: groups }, (_, group) => Math.floor((kills + group) / groups)),
      (count, group) => measureGroup({ url, fault, group: String(group), kills: count, round }),
      { concurrency: "unbounded" }
    )
    const jobs = results.flat()
    const stops = fault === "kill" ? [] : jobs.map(({ stop }) => stop)
    const overlapMax = fault === "kill" ? 0 : tolerance
    const takeovers: Takeovers = {
      times: jobs.map(({ wait }) => wait).filter(Number.isFinite).toSorted((a, b) => a - b),
      overlaps: jobs.filter(({ overlap }) => overlap > overlapMax).length,
      lost: jobs.filter(({ wait }) => !Number.isFinite(wait)).length,
      stops: stops.toSorted((a, b) => a - b),
      late: stops.filter((stop) => stop > tolerance).length
    }
    return takeovers
  }
)

/** Returns the time that no more than this share of ascending times exceeds, in seconds with three decimal places. */
export const quantile = (times: ReadonlyArray<number>, share: number): number =>
  Math.round(LongPolls.quantile(times, share)) / 1000

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface GroupOptions extends Pick<TakeoverOptions, "fault" | "kills" | "url"> {
  readonly group: string
  readonly round: Effect.Effect<void>
}

/** A job whose worker failed. Durations in milliseconds; infinite if the job did not start again, or its run did not end. */
interface TakenJob {
  /** From the failure until another worker started the job. */
  readonly wait: number
  /** From the latest time at which the run had to end until it ended. */
  readonly stop: number
  /** During which both workers ran the job. A suspended process runs nothing. */
  readonly overlap: number
}

const measureGroup = Effect.fnUntraced(function*({ fault, group, kills, round, url }: GroupOptions) {
  const taken: Array<TakenJob> = []
  let victim = yield* TakeoverWorker.start(url, group)
  for (let kill = 0; kill < kills; kill++) {
    const jobs = yield* enqueue(group, kill)
    yield* victim.started(jobs)
    const heir = yield* TakeoverWorker.start(url, group)
    const failedAt = yield* victim.fail(fault)
    const started = yield* heir.started(jobs)
    const { due, ended, since } = yield* victim.stop(fault, failedAt, jobs)
    taken.push(...jobs.map((job): TakenJob => {
      const startedAt = started.get(job) ?? Infinity
      const endedAt = ended.get(job) ?? Infinity
      return { wait: startedAt - failedAt, stop: endedAt - due, overlap: endedAt - Math.max(startedAt, since) }
    }))
    yield* victim.kill
    yield* round
    victim = heir
  }
  yield* victim.kill
  return taken
})

/** Enqueues jobs, each in a lane of its own, so that all of them run at the same time. */
const enqueue = Effect.fnUntraced(function*(group: string, kill: number) {
  const scheduler = yield* Scheduler.Scheduler
  const jobs = Array.from({ length: jobsPerKill }, (_, n) => {
    const number = String(kill * jobsPerKill + n).padStart(8, "0")
    return `00000000-0000-4000-8000-${group.padStart(4, "0")}${number}`
  })
  const kind = TakeoverJobs.kindOf(group)
  yield* Effect.forEach(
    jobs,
    (job) => scheduler.enqueue({ job, lane: job, group: job, cap: 1, kind, payload: {} }),
    { concurrency: "unbounded" }
  )
  return jobs
})
