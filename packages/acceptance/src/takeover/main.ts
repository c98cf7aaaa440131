/** Kills, hangs or suspends workers from the command line: `npm run drill:takeover -- --help`. */
import { PgClient } from "@effect/sql-pg"
import { Scheduler } from "@kinora/scheduler"
import { Clock, Console, Effect, Layer, Redacted } from "effect"
import { parseArgs } from "node:util"
import { InvalidOptions, readOptions, startPostgres, wholeNumber } from "../internal/commandLine.ts"
import * as Takeover from "./Takeover.ts"
import { type Fault, faults } from "./TakeoverWorker.ts"

/** Seconds within which another worker runs 99 of 100 jobs of a killed worker. */
const goalSeconds = 12

const toleranceSeconds = Takeover.toleranceMillis / 1000

const help = `Makes workers with jobs fail, and measures the time until another worker runs each job.

npm run drill:takeover -- [--fault <fault>] [--kills <count>] [--groups <count>] [--url <url>] [--json]

  --fault    How each worker fails. Default kill
             kill     SIGKILL
             hang     its database no longer responds
             freeze   SIGSTOP until another worker runs its jobs; its database does not respond when it continues
  --kills    Number of workers that fail, 1 to 10000. Default 100
  --groups   Groups of two workers that run at the same time, 1 to 50. Default 10
  --url      URL of an empty Postgres database. Default: starts a server
  --json     Print the result as JSON
  --help     Print this text

Each worker runs ${Takeover.jobsPerKill} jobs when it fails. With the defaults, 20 workers run at the same time. The
result holds for the processor time that they get, so run nothing else meanwhile.
With hang and freeze, the worker has to interrupt its runs by itself: the drill measures when they end, from the latest
possible end of the lease of the worker, or from when it continues. Negative times are before it.
Exit codes: 0 if 99 of 100 jobs run again within ${goalSeconds} seconds, all jobs run again, no job runs on two workers
at the same time for more than ${toleranceSeconds} second, and each run ends at most ${toleranceSeconds} second late; 1 if not; 2 if the
options are not valid or the database is unavailable. Jobs of killed workers run on one worker at any time.
Progress goes to the standard error output.`

const parse = () =>
  parseArgs({
    args: process.argv.slice(2),
    options: {
      fault: { type: "string", default: "kill" },
      kills: { type: "string", default: "100" },
      groups: { type: "string", default: "10" },
      url: { type: "string" },
      json: { type: "boolean", default: false },
      help: { type: "boolean", default: false }
    }
  }).values

const faultOf = (text: string): Effect.Effect<Fault, InvalidOptions> => {
  const fault = faults.find((fault) => fault === text)
  return fault === undefined
    ? Effect.fail(new InvalidOptions({ message: `--fault must be one of ${faults.join(", ")}` }))
    : Effect.succeed(fault)
}

const program = Effect.gen(function*() {
  const { fault: faultText, groups: groupsText, help: isHelp, json, kills: killsText, url: given } = yield* readOptions(
    parse
  )
  if (isHelp) return yield* Effect.as(Console.log(help), 0)
  const fault = yield* faultOf(faultText)
  const kills = yield* wholeNumber("kills", killsText, 1, 10_000)
  const groups = Math.min(kills, yield* wholeNumber("groups", groupsText, 1, 50))
  const url = given ?? (yield* startPostgres({ max_connections: "500" }))
  const scheduler = Scheduler.layerPostgres().pipe(Layer.provideMerge(PgClient.layer({ url: Redacted.make(url) })))
  const startedAt = yield* Clock.currentTimeMillis
  const takeovers = yield* Takeover.measure({
    url,
    fault,
    kills,
    groups,
    onKill: (count) => Effect.sync(() => void process.stderr.write(`\r${count} of ${kills} workers`))
  }).pipe(
    Effect.provide(scheduler),
    Effect.mapError((cause) => new InvalidOptions({ message: `The drill could not be run: ${cause.message}` }))
  )
  process.stderr.write("\n")
  const { late, lost, overlaps, stops, times } = takeovers
  const [p50, p99, max] = [0.5, 0.99, 1].map((share) => Takeover.quantile(times, share))
  const [stopP50, stopMax] = [0.5, 1].map((share) => Takeover.quantile(stops, share))
  const seconds = Math.round(((yield* Clock.currentTimeMillis) - startedAt) / 1000)
  const measured = { fault, kills, jobs: times.length }
  const stopped = fault === "kill" ? "" : ` runs ended at p50 ${stopP50} s, max ${stopMax} s, ${late} late;`
  yield* Console.log(
    json
      ? JSON.stringify({ ...measured, p50, p99, max, overlaps, lost, stopP50, stopMax, late, seconds })
      : `${kills} workers (${fault}), ${times.length} jobs taken over: p50 ${p50} s, p99 ${p99} s, max ${max} s;` +
        `${stopped} ${overlaps} overlaps, ${lost} lost; ${seconds} seconds`
  )
  return lost + overlaps + late === 0 && p99! <= goalSeconds ? 0 : 1
}).pipe(
  Effect.scoped,
  Effect.catchTag("InvalidOptions", ({ message }) => Effect.as(Console.error(`${message}\n\n${help}`), 2))
)

process.exitCode = await Effect.runPromise(program)
