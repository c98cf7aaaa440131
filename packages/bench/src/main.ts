import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Process } from "@kinora/hosting"
import { Console, DateTime, Effect, Option, References, Schema } from "effect"
import { Argument, CliError, Command, Flag } from "effect/cli"
import { BenchmarkFailure, type Environment } from "./Benchmark.ts"
import { benchmarks } from "./Benchmarks.ts"
import * as Checkout from "./Checkout.ts"
import * as Comparison from "./Comparison.ts"
import * as Goals from "./Goals.ts"
import * as Machine from "./Machine.ts"
import * as PostgresServer from "./PostgresServer.ts"
import * as Probes from "./probes/Probes.ts"
import * as Progress from "./Progress.ts"
import * as Report from "./Report.ts"
import * as Results from "./Results.ts"
import * as Rounds from "./Rounds.ts"
import { versions } from "./Versions.ts"

/** Names of benchmarks and of groups. */
const names = [...new Set(benchmarks.flatMap(({ group, name }) => [name, group]))]

/** A flag for a number of rounds. */
const roundsFlag = (name: string, minimum: number) =>
  Flag.Int(name).pipe(Flag.withSchema(Schema.Int.check(Schema.isBetween({ minimum, maximum: 1000 }))))

const input = {
  chosen: Argument.Literals("benchmark", names).pipe(
    Argument.withDescription("Benchmarks to run. Default: all"),
    Argument.variadic()
  ),
  seconds: Flag.String("seconds").pipe(
    Flag.withDescription("Approximate duration of a round"),
    Flag.withSchema(Schema.NumberFromString.check(Schema.isBetween({ minimum: 0.1, maximum: 600 }))),
    Flag.withDefault(5)
  ),
  pairs: roundsFlag("pairs", 1).pipe(
    Flag.withDescription("Rounds of each contestant"),
    Flag.withDefault(5)
  ),
  warmUps: roundsFlag("warm-ups", 0).pipe(
    Flag.withDescription("Rounds of each contestant before those that count"),
    Flag.withDefault(Checkout.warmUpsDefault)
  ),
  json: Flag.Boolean("json").pipe(
    Flag.withDescription("Print JSON with every round instead of a table"),
    Flag.withDefault(false)
  ),
  save: Flag.Boolean("save").pipe(
    Flag.withDescription("Also store the results in docs/reference/benchmarks.json, and their tables in benchmarks.md"),
    Flag.withDefault(false)
  ),
  compare: Flag.String("compare").pipe(
    Flag.withMetavar("commit"),
    Flag.withDescription(
      "Run the benchmarks of this commit of git in turns with those of the working tree, and compare"
    ),
    Flag.optional
  ),
  url: Flag.String("url").pipe(
    Flag.withDescription(
      "URL of a Postgres that can create databases: postgres://user:password@host/database. Default: starts one"
    ),
    Flag.optional
  )
}

/** The benchmarks and their rounds. */
interface Rounding {
  readonly chosen: ReadonlyArray<string>
  readonly pairs: number
  readonly seconds: number
  readonly warmUps: number
}

/** Runs the benchmarks of a commit and of the working tree in turns, on one Postgres. */
const compareWith = Effect.fnUntraced(function*(
  commit: string,
  { chosen, pairs, seconds, url, warmUps }: Rounding & { readonly url: string }
) {
  yield* Progress.show(`installing ${commit.slice(0, 12)}`)
  const directory = yield* Checkout.make(commit)
  const args = Checkout.pairArgs({ chosen, seconds, url, warmUps })
  const version = (name: string, directory: string): Comparison.Version => ({
    name,
    run: Effect.map(Checkout.bench(directory, args), ({ outcomes }) => outcomes)
  })
  const before = version(commit.slice(0, 12), directory)
  const after = version("working tree", Checkout.root)
  const contestants = yield* Comparison.run({ before, after, pairs, progress: Progress.show })
  return { commit, machine: Machine.description(), rounds: { seconds, pairs, warmUps }, contestants }
})

/** Runs benchmarks of the working tree. */
const report = Effect.fnUntraced(function*(
  server: PostgresServer.PostgresServer,
  { chosen, pairs, seconds, warmUps }: Rounding
) {
  const environment: Environment = { ...server, seconds }
  const conditions = {
    machine: Machine.description(),
    load: Machine.load(),
    commit: yield* Checkout.describe(Checkout.root),
    day: DateTime.formatIsoDateUtc(yield* DateTime.now),
    postgres: server.description,
    versions: versions(),
    rounds: { seconds, pairs, warmUps }
  }
  yield* Progress.show("limits of the machine")
  const limits = yield* Probes.measure(environment)
  const outcomes = yield* Effect.forEach(
    benchmarks.filter(({ group, name }) => chosen.length === 0 || chosen.includes(name) || chosen.includes(group)),
    (benchmark) =>
      Effect.map(
        Rounds.run(benchmark, { pairs, warmUps, environment, progress: Progress.show }),
        (outcome) => ({ group: benchmark.group, ...outcome })
      )
  )
  const made: Report.Report = { ...conditions, limits, outcomes }
  return made
})

const bench = Command.make(
  "bench",
  input,
  Effect.fn("bench")(
    function*({ compare, json, save, url, ...rounding }) {
      if (save && Option.isSome(compare)) {
        return yield* new BenchmarkFailure({
          what: "--save stores the results of one run of this working tree, so it cannot be combined with --compare"
        })
      }
      const tree = yield* Checkout.describe(Checkout.root)
      if (save && !Checkout.isCommit(tree)) {
        return yield* new BenchmarkFailure({
          what:
            `--save names the commit that was measured, but this working tree is not a commit (${tree}): commit all changes first`
        })
      }
      const commit = yield* Effect.transposeOption(Option.map(compare, Checkout.commitOf))
      const server = yield* PostgresServer.make(url)
      if (Option.isSome(commit)) {
        const compared = yield* compareWith(commit.value, { ...rounding, url: server.url })
        yield* Progress.clear
        return yield* Console.log(json ? JSON.stringify(compared, undefined, 2) : Report.toComparison(compared))
      }
      const made = yield* report(server, rounding)
      yield* Progress.clear
      if (save) yield* Results.save(made)
      yield* Console.log(json ? Report.toJson(made) : Report.toText(made))
      const what = Goals.failureOf(made.outcomes)
      if (what !== undefined) return yield* new BenchmarkFailure({ what })
    },
    Effect.scoped,
    Effect.mapError((failure) => new CliError.UserError({ cause: failure, userMessage: failure.message }))
  )
).pipe(
  Command.withDescription(
    "Measures Kinora and its peers on one Postgres with default durability. Contestants take turns; ratios are computed per pair of rounds. Exits with code 1 if operations fail that must not fail."
  ),
  Command.withExamples([
    { command: "bench", description: "All benchmarks" },
    { command: "bench claim limit-100-256 --pairs 3 --seconds 2", description: "Two benchmarks with short rounds" },
    { command: "bench --save", description: "All benchmarks, for the documentation" },
    { command: "bench create get --compare HEAD~1", description: "Whether this working tree is faster than a commit" }
  ])
)

Command.run(bench, { version: Process.version }).pipe(
  // As in hosts, which record no spans, since nothing collects them.
  Effect.provideService(References.TracerEnabled, false),
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain({ disableErrorReporting: true })
)
