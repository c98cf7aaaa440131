/** A queue of jobs with groups, as the benchmarks of claiming use it. */
import type { Effect, Scope } from "effect"
import type { BenchmarkFailure } from "./Benchmark.ts"

/** A queue on a database of its own. The cap of each group is `cap`. */
export interface JobQueue {
  readonly name: string
  readonly database: string
  /** Deletes all jobs. */
  readonly empty: Effect.Effect<void, BenchmarkFailure>
  /** Adds jobs, spread evenly over so many groups. */
  readonly fill: (jobs: number, groups: number) => Effect.Effect<void, BenchmarkFailure>
  /** Adds jobs of one more group, whose slots are taken by jobs that do not end. */
  readonly block: (jobs: number) => Effect.Effect<void, BenchmarkFailure>
  /** Adds a single job of a group of its own. */
  readonly add: Effect.Effect<void, BenchmarkFailure>

  /** Works until the scope closes, in the way that gets most done. `run` is called for each job. */
  readonly workInBatches: (run: () => void) => Effect.Effect<void, BenchmarkFailure, Scope.Scope>
  /** Works until the scope closes with 16 who each take a job at a time. A job takes `jobMillis`. */
  readonly workSingly: (run: () => void) => Effect.Effect<void, BenchmarkFailure, Scope.Scope>
  /** Works until the scope closes, in the way that starts a job soonest. */
  readonly workPromptly: (run: () => void) => Effect.Effect<void, BenchmarkFailure, Scope.Scope>

  /** A statement that answers, as `done`, whether all jobs but the blocked ones have ended. */
  readonly isDone: string
  /** A statement that answers, as `over`, whether more jobs of a group are running than its cap. */
  readonly isOverCap: string
}

/** Jobs of a group that may run at the same time, where a queue can say so. */
export const cap = 2

/** How long a job takes that is worked on singly. */
export const jobMillis = 5
