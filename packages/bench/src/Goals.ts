/** Whether the rounds of a run reach the goals of their benchmark. */
import type { Goals, Round } from "./Benchmark.ts"
import type { Spread } from "./Statistics.ts"

/** A goal, and the figure of a run. */
export interface JudgedGoal {
  readonly goal: "ratio" | "failed" | "peakMebibytes"
  readonly limit: number
  readonly found: number
  readonly isReached: boolean
}

/** The used part of the result of a contestant. */
interface JudgedResult {
  readonly rounds: ReadonlyArray<Round>
  readonly ratio?: Spread
}

/** Compares results with goals. Without a ratio, that goal is missing. */
export const judge = (goals: Goals, results: ReadonlyArray<JudgedResult>): ReadonlyArray<JudgedGoal> => {
  const rounds = results.flatMap(({ rounds }) => rounds)
  const ratios = results.flatMap(({ ratio }) => ratio?.median ?? [])
  const failed = rounds.flatMap(({ failed = {} }) => Object.values(failed)).reduce((sum, times) => sum + times, 0)
  const peak = Math.max(0, ...rounds.map(({ peakMebibytes = 0 }) => peakMebibytes))
  return [
    ...goals.ratioMax === undefined || ratios.length === 0
      ? []
      : [judged("ratio", goals.ratioMax, Math.max(...ratios))],
    judged("failed", 0, failed),
    judged("peakMebibytes", goals.peakMebibytesMax, peak)
  ]
}

/** Returns a line about the benchmarks in which operations failed, or `undefined`. Goals of time and memory are only reported. */
export const failureOf = (
  outcomes: ReadonlyArray<{
    readonly benchmark: { readonly name: string }
    readonly goals?: ReadonlyArray<JudgedGoal>
  }>
): string | undefined => {
  const failing = outcomes.flatMap(({ benchmark, goals = [] }) =>
    goals.filter(({ goal, isReached }) => goal === "failed" && !isReached)
      .map(({ found }) => `${benchmark.name} (${found})`)
  )
  return failing.length === 0 ? undefined : `Operations that must not fail have failed: ${failing.join(", ")}`
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const judged = (goal: JudgedGoal["goal"], limit: number, found: number): JudgedGoal => ({
  goal,
  limit,
  found,
  isReached: found <= limit
})
