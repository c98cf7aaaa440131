/** What a benchmark is: contestants who do the same work in turns, and what is compared. */
import { Data, Effect, type Scope } from "effect"

/** The figures of one round. Which of them a round has depends on its benchmark. */
export interface Round {
  /** Operations that were done and committed, per second. */
  readonly perSecond: number
  /** Median of the time that an operation took its caller, in milliseconds. */
  readonly p50?: number
  /** The time that 99 of 100 operations stay below, in milliseconds. */
  readonly p99?: number
  /** Part of the looks at the database that found more jobs of a group running than its cap, 0 to 1. */
  readonly overCap?: number
}

/** One who does the work. */
export interface Contestant {
  readonly name: string
  /** Does the work once. What prepares it is not in the figures. */
  readonly round: Effect.Effect<Round, BenchmarkFailure, Scope.Scope>
}

/** A comparison, or the figures of one contestant alone. */
export interface Benchmark {
  /** By which it is chosen on the command line. */
  readonly name: string
  /** What is measured, in a line. */
  readonly title: string
  /** The figure that the ratio is made of; less is better for all but `perSecond`. */
  readonly compares: "perSecond" | "p50" | "p99" | "overCap"
  /** Ours is the first. They live until the scope closes. */
  readonly contestants: (
    environment: Environment
  ) => Effect.Effect<ReadonlyArray<Contestant>, BenchmarkFailure, Scope.Scope>
}

/** What contestants are given. */
export interface Environment {
  /** The URL of a new, empty database, dropped with the scope. */
  readonly database: Effect.Effect<string, BenchmarkFailure, Scope.Scope>
  /** Vacuums a database and writes its pages out. Each round does it before it starts, so that none pays for another. */
  readonly tidy: (database: string) => Effect.Effect<void, BenchmarkFailure>
  /** How long a round should take, about. */
  readonly seconds: number
}

/** A contestant did not do what it should, so its figures say nothing. */
export class BenchmarkFailure extends Data.TaggedError("BenchmarkFailure")<{
  readonly what: string
  readonly cause?: unknown
}> {
  override get message(): string {
    return this.cause instanceof Error ? `${this.what}: ${this.cause.message}` : this.what
  }
}

/** Calls that belong to a peer: what they throw is a failure of the benchmark. */
export const attempt = <A>(what: string, call: () => Promise<A>): Effect.Effect<A, BenchmarkFailure> =>
  Effect.tryPromise({ try: call, catch: (cause) => new BenchmarkFailure({ what, cause }) })

/** Whatever goes wrong is a failure of the benchmark. */
export const failingWith =
  (what: string) => <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, BenchmarkFailure, R> =>
    Effect.mapError(effect, (cause) => new BenchmarkFailure({ what, cause }))
