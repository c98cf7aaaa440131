/** A benchmark: contestants that do the same work in turns, and the figure that is compared. */
import { Data, Effect, type Scope } from "effect"
import type * as WriteAheadLog from "./WriteAheadLog.ts"

/** Numbers of responses by status, or by another outcome. */
export type Outcomes = Readonly<Record<string, number>>

/** The figures of one round. A round has those of its benchmark. */
export interface Round {
  /** Operations committed per second. */
  readonly perSecond?: number
  /** Median latency of an operation, in milliseconds. */
  readonly p50?: number
  /** 99th percentile of the latency, in milliseconds. */
  readonly p99?: number
  /** Maximum latency, in milliseconds. */
  readonly max?: number
  /** 99th percentile of the latency of each kind of operation, in milliseconds. */
  readonly operations?: Readonly<Record<string, number>>
  /** Operations that failed. */
  readonly failed?: Outcomes
  /** Responses to the attacker of the round. */
  readonly attacker?: Outcomes
  /** Share of the samples in which more jobs of a group ran than its cap allows, 0 to 1. */
  readonly overCap?: number
  /** Time from the start of a program until it is ready, in seconds. */
  readonly readySeconds?: number
  /** Processor time of the server's process per operation, user and system, in microseconds. */
  readonly serverMicros?: number
  /** Processor time of all processes of Postgres per operation, in microseconds. */
  readonly databaseMicros?: number
  /** Processor time of a job, user and system, in seconds. */
  readonly cpuSeconds?: number
  /** Resident memory of the process and its children 2 seconds after it was ready, in MiB. */
  readonly residentMebibytes?: number
  /** Maximum resident memory of the process and its children since it started, in MiB. */
  readonly peakMebibytes?: number
}

/** A round that has a rate. */
export interface RatedRound extends Round {
  readonly perSecond: number
}

/** Costs of one operation in the database. Counted in a round of its own, since counting slows an operation down. */
export interface Counts {
  /** Statements sent to Postgres. `BEGIN` and `COMMIT` are statements. */
  readonly statements: number
  /** Number of times that a connection waits for Postgres. */
  readonly roundTrips: number
  /** Bytes of write-ahead log, without copies of whole pages if Postgres counts them. */
  readonly walBytes: number
}

/** One participant of a benchmark. */
export interface Contestant {
  readonly name: string
  /** Does the work once. The figures exclude its preparation. */
  readonly round: Effect.Effect<Round, BenchmarkFailure, Scope.Scope>
  /** Does the work before the first round. Default: `round`. */
  readonly warmUp?: Effect.Effect<unknown, BenchmarkFailure, Scope.Scope>
  /** Does the work once more, slower, and counts. */
  readonly counted?: Effect.Effect<Counts, BenchmarkFailure, Scope.Scope>
}

/** A comparison of contestants, or the figures of a single one. */
export interface Benchmark {
  /** The name on the command line. */
  readonly name: string
  /** Describes the measurement in one line. */
  readonly title: string
  /** The figure of which the ratio is computed. Less is better, except for `perSecond`. */
  readonly compares: "perSecond" | "p50" | "p99" | "overCap" | "cpuSeconds" | "readySeconds"
  /** The report states whether they are reached. */
  readonly goals?: Goals
  /** Creates the contestants, Kinora first. They live until the scope closes. */
  readonly contestants: (
    environment: Environment
  ) => Effect.Effect<ReadonlyArray<Contestant>, BenchmarkFailure, Scope.Scope>
}

/** Goals of a benchmark whose contestants are the same service under different conditions. No operation may fail. */
export interface Goals {
  /** Maximum ratio of the compared figure, in the median of the pairs. Default: any. */
  readonly ratioMax?: number
  /** Maximum resident memory of the process and its children, in MiB. */
  readonly peakMebibytesMax: number
}

/** The environment of a contestant. */
export interface Environment {
  /** The URL of a new, empty database, dropped with the scope. */
  readonly database: Effect.Effect<string, BenchmarkFailure, Scope.Scope>
  /** Vacuums a database and writes its pages to disk. Each round starts with it, so that no round pays for an earlier one. */
  readonly tidy: (database: string) => Effect.Effect<void, BenchmarkFailure>
  /** Processor time of all processes of Postgres, in seconds. Undefined if Postgres runs elsewhere. */
  readonly databaseSeconds: Effect.Effect<number | undefined, BenchmarkFailure>
  readonly log: WriteAheadLog.WriteAheadLog<BenchmarkFailure>
  /** Approximate duration of a round. */
  readonly seconds: number
}

/** A contestant failed, so its figures are worthless. */
export class BenchmarkFailure extends Data.TaggedError("BenchmarkFailure")<{
  readonly what: string
  readonly cause?: unknown
}> {
  override get message(): string {
    return this.cause instanceof Error ? `${this.what}: ${this.cause.message}` : this.what
  }
}

/** Calls a peer. An exception fails the benchmark. */
export const attempt = <A>(what: string, call: () => Promise<A>): Effect.Effect<A, BenchmarkFailure> =>
  Effect.tryPromise({ try: call, catch: (cause) => new BenchmarkFailure({ what, cause }) })

/** Turns every failure into a failure of the benchmark. */
export const failingWith =
  (what: string) => <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, BenchmarkFailure, R> =>
    Effect.mapError(effect, (cause) => new BenchmarkFailure({ what, cause }))
