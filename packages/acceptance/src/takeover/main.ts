/** Kills workers from the command line: `npm run drill:takeover -- --help`. */
import { PgClient } from "@effect/sql-pg"
import { Scheduler } from "@kinora/scheduler"
import { Clock, Console, Effect, Layer, Redacted } from "effect"
import { parseArgs } from "node:util"
import { InvalidOptions, readOptions, startPostgres, wholeNumber } from "../internal/commandLine.ts"
import * as Takeover from "./Takeover.ts"

/** Seconds within which another worker runs 99 of 100 jobs of a killed worker. */
const goalSeconds = 12

const help = `Kills workers with jobs, and measures the time until another worker runs each job.

npm run drill:takeover -- [--kills <count>] [--groups <count>] [--url <url>] [--json]

  --kills    Number of workers that are killed with SIGKILL, 1 to 10000. Default 100
  --groups   Groups of two workers that run at the same time, 1 to 50. Default 10
  --url      URL of an empty Postgres database. Default: starts a server
  --json     Print the result as JSON
  --help     Print this text

Each worker runs ${Takeover.jobsPerKill} jobs when it is killed. With the defaults, 20 workers run at the same time. The
result holds for the processor time that they get, so run nothing else meanwhile.
Exit codes: 0 if 99 of 100 jobs run again within ${goalSeconds} seconds, all jobs run again, and no job runs on two workers
at the same time; 1 if not; 2 if the options are not valid or the database is unavailable.
Progress goes to the standard error output.`

const parse = () =>
  parseArgs({
    args: process.argv.slice(2),
    options: {
      kills: { type: "string", default: "100" },
      groups: { type: "string", default: "10" },
      url: { type: "string" },
      json: { type: "boolean", default: false },
      help: { type: "boolean", default: false }
    }
  }).values

const program = Effect.gen(function*() {
  const { groups: groupsText, help: isHelp, json, kills: killsText, url: given } = yield* readOptions(parse)
  if (isHelp) return yield* Effect.as(Console.log(help), 0)
  const kills = yield* wholeNumber("kills", killsText, 1, 10_000)
  const groups = Math.min(kills, yield* wholeNumber("groups", groupsText, 1, 50))
  const url = given ?? (yield* startPostgres({ max_connections: "500" }))
  const scheduler = Scheduler.layerPostgres().pipe(Layer.provideMerge(PgClient.layer({ url: Redacted.make(url) })))
  const startedAt = yield* Clock.currentTimeMillis
  const takeovers = yield* Takeover.measure({
    url,
    kills,
    groups,
    onKill: (count) => Effect.sync(() => void process.stderr.write(`\r${count} of ${kills} kills`))
  }).pipe(
    Effect.provide(scheduler),
    Effect.mapError((cause) => new InvalidOptions({ message: `The drill could not be run: ${cause.message}` }))
  )
  process.stderr.write("\n")
  const { lost, overlaps, times } = takeovers
  const [p50, p99, max] = [0.5, 0.99, 1].map((share) => Takeover.quantile(takeovers, share))
  const seconds = Math.round(((yield* Clock.currentTimeMillis) - startedAt) / 1000)
  yield* Console.log(
    json
      ? JSON.stringify({ kills, jobs: times.length, p50, p99, max, overlaps, lost, seconds })
      : `${kills} kills, ${times.length} jobs taken over: p50 ${p50} s, p99 ${p99} s, max ${max} s; ` +
        `${overlaps} overlaps, ${lost} lost; ${seconds} seconds`
  )
  return lost + overlaps === 0 && p99! <= goalSeconds ? 0 : 1
}).pipe(
  Effect.scoped,
  Effect.catchTag("InvalidOptions", ({ message }) => Effect.as(Console.error(`${message}\n\n${help}`), 2))
)

process.exitCode = await Effect.runPromise(program)
