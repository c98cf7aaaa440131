/** The same benchmarks at two commits, in turns. Peers are the same at both, so their ratios show the noise of the machine. */
import { Effect } from "effect"
import type { BenchmarkFailure, Round } from "./Benchmark.ts"
import type { Outcome } from "./Rounds.ts"
import { type Spread, spreadOf } from "./Statistics.ts"

/** A commit whose benchmarks run. */
export interface Version {
  /** The name in the report. */
  readonly name: string
  /** Runs one round of each contestant, after the rounds that warm up. */
  readonly run: Effect.Effect<ReadonlyArray<Outcome>, BenchmarkFailure>
}

/** Options of a comparison. */
export interface ComparisonOptions {
  readonly before: Version
  readonly after: Version
  /** Number of runs of each version. */
  readonly pairs: number
  /** Called before each run. */
  readonly progress: (text: string) => Effect.Effect<void>
}

/** A contestant that both versions have. */
export interface ComparedContestant {
  readonly benchmark: string
  readonly name: string
  /** The figure of each run, in order. */
  readonly before: ReadonlyArray<number>
  readonly after: ReadonlyArray<number>
  /** How much better the later version was, per pair of runs: 2 is twice as good. Absent if a run has the figure 0. */
  readonly ratio?: Spread
}

/** Runs both versions in turns. The one that begins changes with each pair, so that a drift of the machine affects both. */
export const run = Effect.fnUntraced(
  function*({ after, before, pairs, progress }: ComparisonOptions): Effect.fn.Return<
    ReadonlyArray<ComparedContestant>,
    BenchmarkFailure
  > {
    const runs = new Map<Version, Array<ReadonlyArray<Outcome>>>([[before, []], [after, []]])
    for (let pair = 1; pair <= pairs; pair++) {
      for (const version of pair % 2 === 1 ? [before, after] : [after, before]) {
        yield* progress(`${version.name}: run ${pair} of ${pairs}`)
        runs.get(version)!.push(yield* version.run)
      }
    }
    return compare(runs.get(before)!, runs.get(after)!)
  }
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Runs = ReadonlyArray<ReadonlyArray<Outcome>>

const compare = (before: Runs, after: Runs): ReadonlyArray<ComparedContestant> =>
  (after[0] ?? []).flatMap(({ benchmark, results }) =>
    results.flatMap(({ name }) => {
      const figuresOf = (runs: Runs) =>
        runs.flatMap((outcomes) => roundOf(outcomes, benchmark.name, name)?.[benchmark.compares] ?? [])
      const [earlier, later] = [figuresOf(before), figuresOf(after)]
      if (earlier.length < before.length || later.length < after.length) return []
      const ratios = earlier.map((figure, index) =>
        benchmark.compares === "perSecond" ? later[index]! / figure : figure / later[index]!
      )
      const ratio = ratios.every((one) => Number.isFinite(one) && one > 0) ? { ratio: spreadOf(ratios) } : {}
      return [{ benchmark: benchmark.name, name, before: earlier, after: later, ...ratio }]
    })
  )

const roundOf = (outcomes: ReadonlyArray<Outcome>, benchmark: string, name: string): Round | undefined =>
  outcomes.find((outcome) => outcome.benchmark.name === benchmark)?.results.find((result) => result.name === name)
    ?.rounds[0]
