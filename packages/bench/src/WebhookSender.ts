/** A sender of webhooks, as the webhook benchmarks use it. */
import type { Effect, Scope } from "effect"
import type { BenchmarkFailure } from "./Benchmark.ts"

/** A sender on its own database. It signs and logs each send. */
export interface WebhookSender {
  readonly name: string
  readonly database: string
  /** Approximate throughput in sends per second. It determines the number of events of a round. */
  readonly perSecond: number
  /** Deletes all events, endpoints and logs. */
  readonly empty: Effect.Effect<void, BenchmarkFailure>
  /** Registers one endpoint per URL, each for a new account. */
  readonly register: (urls: ReadonlyArray<string>) => Effect.Effect<void, BenchmarkFailure>
  /** Publishes the events with these numbers in one transaction, cycling through the endpoints with these numbers. */
  readonly publish: (
    events: ReadonlyArray<number>,
    endpoints: ReadonlyArray<number>
  ) => Effect.Effect<void, BenchmarkFailure>
  /** Sends until the scope closes, including events that are published meanwhile. */
  readonly send: Effect.Effect<void, BenchmarkFailure, Scope.Scope>
  /** A statement whose column `done` is true if everything is sent and logged. */
  readonly isDone: string
}

/** The remaining content of an event. As long as a real one. */
export const filler = "x".repeat(1_000)
