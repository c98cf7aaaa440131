/** A sender of webhooks, as the benchmarks of webhooks use it. */
import type { Effect, Scope } from "effect"
import type { BenchmarkFailure } from "./Benchmark.ts"

/** A sender on a database of its own. Each send is signed, and leaves a line in a log. */
export interface WebhookSender {
  readonly name: string
  readonly database: string
  /** What it sends per second, about: a round has as many events as it takes. */
  readonly perSecond: number
  /** Deletes all events, endpoints and logs. */
  readonly empty: Effect.Effect<void, BenchmarkFailure>
  /** Registers an endpoint for each URL, each of an account of its own. */
  readonly register: (urls: ReadonlyArray<string>) => Effect.Effect<void, BenchmarkFailure>
  /** Publishes the events of these numbers in one transaction, in turns to the endpoints of these numbers. */
  readonly publish: (
    events: ReadonlyArray<number>,
    endpoints: ReadonlyArray<number>
  ) => Effect.Effect<void, BenchmarkFailure>
  /** Sends until the scope closes, also what is published meanwhile. */
  readonly send: Effect.Effect<void, BenchmarkFailure, Scope.Scope>
  /** A statement that answers, as `done`, whether everything was sent and logged. */
  readonly isDone: string
}

/** What an event says besides its number. As long as an event of a job is. */
export const filler = "x".repeat(1_000)
