/** Runs a benchmark. Contestants take turns, so that other load on the machine affects all of them. */
import { Duration, Effect, type Scope } from "effect"
import {
  type Benchmark,
  BenchmarkFailure,
  type Contestant,
  type Counts,
  type Environment,
  type Round
} from "./Benchmark.ts"
import * as Goals from "./Goals.ts"
import { type Spread, spreadOf } from "./Statistics.ts"

/** Options of a run. */
export interface RoundsOptions {
  /** Counted rounds of each contestant. */
  readonly pairs: number
  /** Rounds of each contestant that precede them and are not counted. */
  readonly warmUps: number
  readonly environment: Environment
  /** Called before each round. */
  readonly progress: (text: string) => Effect.Effect<void>
}

/** The counted rounds of a contestant, in order. */
export interface Result {
  readonly name: string
  readonly rounds: ReadonlyArray<Round>
  /** Absent if the benchmark does not count. */
  readonly counts?: Counts
  /**
   * How much better Kinora was than this peer, per pair of rounds: 2 is twice as good.
   * Absent for Kinora itself, and if a round has the figure 0.
   */
  readonly ratio?: Spread
}

/** The results of a benchmark, Kinora first. */
export interface Outcome {
  readonly benchmark: Pick<Benchmark, "name" | "title" | "compares">
  readonly results: ReadonlyArray<Result>
  /** Absent if the benchmark has none. */
  readonly goals?: ReadonlyArray<Goals.JudgedGoal>
}

/** Runs the rounds of a benchmark. */
export const run = Effect.fnUntraced(
  function*(benchmark: Benchmark, options: RoundsOptions): Effect.fn.Return<Outcome, BenchmarkFailure, Scope.Scope> {
    const { environment, pairs, progress, warmUps } = options
    const { compares, name, title } = benchmark
    yield* progress(`${name}: preparing`)
    const contestants = yield* benchmark.contestants(environment)
    const rounds = new Map<Contestant, Array<Round>>(contestants.map((contestant) => [contestant, []]))
    for (let pair = 1 - warmUps; pair <= pairs; pair++) {
      for (const contestant of contestants) {
        const what = `${name}: a round of ${contestant.name}`
        if (pair <= 0) {
          yield* progress(`${name}: ${contestant.name}, warming up`)
          yield* patiently(contestant.warmUp ?? contestant.round, what, environment)
        } else {
          yield* progress(`${name}: ${contestant.name}, round ${pair} of ${pairs}`)
          rounds.get(contestant)?.push(yield* patiently(contestant.round, what, environment))
        }
      }
    }
    const counts = new Map<Contestant, Counts>()
    for (const contestant of contestants) {
      if (contestant.counted === undefined) continue
      yield* progress(`${name}: ${contestant.name}, counting`)
      const what = `${name}: the counted round of ${contestant.name}`
      counts.set(contestant, yield* patiently(contestant.counted, what, environment))
    }
    const [ours = []] = rounds.values()
    const results = contestants.map((contestant, index): Result => {
      const own = rounds.get(contestant) ?? []
      const ratio = index === 0 ? undefined : ratioOf(ours, own, compares)
      const counted = counts.get(contestant)
      return {
        name: contestant.name,
        rounds: own,
        ...(counted === undefined ? {} : { counts: counted }),
        ...(ratio === undefined ? {} : { ratio })
      }
    })
    return {
      benchmark: { name, title, compares },
      results,
      ...(benchmark.goals === undefined ? {} : { goals: Goals.judge(benchmark.goals, results) })
    }
  },
  Effect.scoped
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Timeout of a round, including its preparation. */
const patienceSeconds = 60
const patienceFactor = 30

const patiently = <A>(
  round: Effect.Effect<A, BenchmarkFailure, Scope.Scope>,
  what: string,
  { seconds }: Environment
): Effect.Effect<A, BenchmarkFailure> =>
  Effect.timeoutOrElse(Effect.scoped(round), {
    duration: Duration.seconds(patienceSeconds + patienceFactor * seconds),
    orElse: () => Effect.fail(new BenchmarkFailure({ what: `${what} does not end` }))
  })

const ratioOf = (
  ours: ReadonlyArray<Round>,
  theirs: ReadonlyArray<Round>,
  compares: Benchmark["compares"]
): Spread | undefined => {
  const ratios = ours.map((round, index) => {
    const mine = round[compares] ?? 0
    const other = theirs[index]?.[compares] ?? 0
    return compares === "perSecond" ? mine / other : other / mine
  })
  return ratios.every(Number.isFinite) ? spreadOf(ratios) : undefined
}
