/** A worker of the takeover drill as a process, and the ways in which it fails. */
import * as TcpProxy from "@kinora/testkit/TcpProxy"
import { Duration, Effect, Schema } from "effect"
import { fileURLToPath } from "node:url"
import * as Program from "../Program.ts"
import * as TakeoverJobs from "./TakeoverJobs.ts"

/**
 * How a worker fails.
 *
 * - `kill`: SIGKILL ends the process.
 * - `hang`: its database no longer responds, and no connection is closed.
 * - `freeze`: SIGSTOP suspends the process until another worker runs its jobs. When it continues, its database does not respond.
 */
export const faults = ["kill", "hang", "freeze"] as const

/** A way in which a worker fails. */
export type Fault = typeof faults[number]

/** Times of jobs, in milliseconds of `TakeoverJobs.now`. */
export type Times = ReadonlyMap<string, number>

/** How the runs of a worker that failed ended. */
export interface Stopped {
  /** The ends of the runs. A run that did not end is missing. */
  readonly ended: Times
  /** The latest end of the lease of the worker, or the time at which it continued, if that is later. */
  readonly due: number
  /** The time at which a suspended worker continued. It ran nothing since it failed until then. */
  readonly since: number
}

/** Starts a worker of a group. Only the first fault of a worker has an effect. */
export const start = Effect.fnUntraced(function*(url: string, group: string) {
  const proxy = yield* TcpProxy.make(url)
  const program = yield* Program.startScript({ file: script, args: [proxy.url, group] })
  const signal = (name: "SIGSTOP" | "SIGCONT") => Effect.sync(() => void process.kill(program.pid, name))

  const fail = Effect.fnUntraced(function*(fault: Fault) {
    const at = yield* TakeoverJobs.now
    if (fault === "kill") yield* program.kill
    else yield* proxy.hang
    if (fault === "freeze") yield* signal("SIGSTOP")
    return at
  })

  /** Continues a worker that failed at this time, and returns when its runs ended, and how late each of them may end. */
  const stop = Effect.fnUntraced(function*(fault: Fault, failedAt: number, jobs: ReadonlyArray<string>) {
    if (fault === "kill") {
      const stopped: Stopped = { ended: new Map(jobs.map((job) => [job, failedAt])), due: failedAt, since: -Infinity }
      return stopped
    }
    // The last renewal was sent before the worker failed.
    const leaseEnd = failedAt + Duration.toMillis(TakeoverJobs.lease)
    const continuedAt = fault === "freeze" ? yield* TakeoverJobs.now : -Infinity
    if (fault === "freeze") yield* signal("SIGCONT")
    const stopped: Stopped = {
      ended: yield* timesOf(program, "ended", jobs),
      due: Math.max(leaseEnd, continuedAt),
      since: continuedAt
    }
    return stopped
  })

  return { fail, stop, kill: program.kill, started: (jobs: ReadonlyArray<string>) => timesOf(program, "started", jobs) }
})

/** A worker. */
export type TakeoverWorker = Effect.Success<ReturnType<typeof start>>

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const script = fileURLToPath(new URL("./worker.ts", import.meta.url))

/** How long the worker may take. */
const waitMax = "60 seconds"

/** Waits until a worker has started or ended its runs of these jobs, and returns when it did. Returns fewer if it takes too long. */
const timesOf = (
  program: Program.Program,
  event: typeof TakeoverJobs.RunLine.Type["event"],
  jobs: ReadonlyArray<string>
) => {
  const found = Effect.map(program.printed, ({ stdout }): Times => {
    // The last line may be incomplete. The others are runs, and messages of the log.
    const lines = stdout.split("\n").slice(0, -1).filter((line) => line.startsWith("{\"job\""))
      .map((line) => Schema.decodeSync(TakeoverJobs.RunLine)(line))
    return new Map(
      lines.filter((line) => line.event === event && jobs.includes(line.job)).map(({ at, job }) => [job, at])
    )
  })
  return Effect.delay(found, "50 millis").pipe(
    Effect.repeat({ until: ({ size }) => size === jobs.length }),
    Effect.timeoutOrElse({ duration: waitMax, orElse: () => found })
  )
}
