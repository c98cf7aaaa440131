/** Limits of the machine: the simplest operations of each kind, measured in the same run as the benchmarks. */
import type { Effect, Scope } from "effect"
import type { BenchmarkFailure, Environment } from "../Benchmark.ts"

/** An operation, measured by a number of callers. */
export interface Limit {
  readonly what: string
  readonly callers: number
  /** Operations per second. */
  readonly perSecond: number
  /** Median latency, in milliseconds. */
  readonly p50: number
}

/** Measures some limits, one after the other. */
export type Probe = (environment: Environment) => Effect.Effect<ReadonlyArray<Limit>, BenchmarkFailure, Scope.Scope>

/** Numbers of callers of each limit. */
export const callers = [1, 64]
