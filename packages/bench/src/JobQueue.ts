/** A job queue with groups, as the queue benchmarks use it. */
import type { Effect, Scope } from "effect"
import type { BenchmarkFailure } from "./Benchmark.ts"

/** A queue on its own database. Each group has the cap `cap`. */
export interface JobQueue {
  readonly name: string
  readonly database: string
  /** Deletes all jobs. */
  readonly empty: Effect.Effect<void, BenchmarkFailure>
  /** Adds jobs, spread evenly over this many groups. */
  readonly fill: (jobs: number, groups: number) => Effect.Effect<void, BenchmarkFailure>
  /** Adds jobs to one more group whose slots are occupied by jobs that never end. */
  readonly block: (jobs: number) => Effect.Effect<void, BenchmarkFailure>
  /** Adds a single job in its own group. */
  readonly add: Effect.Effect<void, BenchmarkFailure>

  /** Works until the scope closes, configured for throughput. Calls `run` for each job. */
  readonly workInBatches: (run: () => void) => Effect.Effect<void, BenchmarkFailure, Scope.Scope>
  /** Works until the scope closes with 16 workers that take one job at a time. A job takes `jobMillis`. */
  readonly workSingly: (run: () => void) => Effect.Effect<void, BenchmarkFailure, Scope.Scope>
  /** Works until the scope closes, configured for the shortest delay. */
  readonly workPromptly: (run: () => void) => Effect.Effect<void, BenchmarkFailure, Scope.Scope>

  /** A statement whose column `done` is true if all jobs except the blocked ones have ended. */
  readonly isDone: string
  /** A statement whose column `over` is true if more jobs of a group run than its cap allows. */
  readonly isOverCap: string
}

/** Maximum number of running jobs of a group, if the queue has caps. */
export const cap = 2

/** Duration of a job in `workSingly`. */
export const jobMillis = 5
