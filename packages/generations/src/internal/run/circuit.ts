/** The circuit breakers of an upstream: one for submits and one for polls, since either can fail while the other works. */
import type { GeneratorError, Reason } from "@kinora/generator/GeneratorError"
import type { UpstreamLimits } from "@kinora/generator/UpstreamLimits"
import { Cause, DateTime, Duration, Effect, Exit, Latch, Option, Schedule } from "effect"
import { CircuitBreaker } from "effect/persistence"
import * as Metrics from "../upstreamMetrics.ts"

/** The calls that have a circuit. */
type Call = "submit" | "poll"

/** An upstream whose circuits are not all closed. */
export interface Trouble {
  /** Whether no job can be submitted, and the circuits were not all closed for `pause_after`. */
  readonly isPaused: boolean
  /** When a job may test the upstream. In the past while a test is due. */
  readonly retryAt: DateTime.Utc
}

/** Makes the circuits of an upstream. They log when they open and when they are closed again. */
export const makeCircuit = Effect.fnUntraced(function*(upstream: string, limits: UpstreamLimits) {
  const breaker = yield* makeBreaker(limits)
  yield* Metrics.start(upstream)
  let failing: Failing | undefined
  /** Open while `failing` is set. */
  const fails = Latch.makeUnsafe(false)

  const states = Effect.all([breaker.state("submit"), breaker.state("poll")]).pipe(Effect.orDie)

  /** Logs and counts a change. */
  const observe = Effect.gen(function*() {
    const current = yield* states
    const isClosed = stateOf(current) === "closed"
    const wasClosed = failing === undefined
    failing = isClosed ? undefined : failingSince(failing, current, yield* DateTime.now)
    if (isClosed === wasClosed) return
    yield* isClosed ? fails.close : fails.open
    yield* Metrics.circuit(upstream, !isClosed)
    yield* isClosed
      ? Effect.logInfo("The upstream works again", { upstream })
      : Effect.logWarning("The upstream fails. No job is submitted until a test succeeds", { upstream })
  })

  const record = <A>(call: Call, exit: Exit.Exit<A, GeneratorError>) => {
    const outcome = outcomeOf(exit)
    return outcome._tag === "Failure" ? Effect.as(Metrics.failed(upstream, call), outcome) : Effect.succeed(outcome)
  }

  return {
    /** Runs a call. Fails with `CircuitBreakerError`, without the call, while its circuit is open. */
    guard: <A>(call: Call, effect: Effect.Effect<A, GeneratorError>) =>
      Effect.ensuring(
        breaker.execute(effect, { key: call, classify: (exit) => record(call, exit) }),
        observe
      ),

    /** `open`: no job can be submitted. `testing`: one job can. */
    state: Effect.map(states, stateOf),

    /** When the upstream can be tried again, and whether its jobs are paused. `None` while all circuits are closed. */
    trouble: Effect.gen(function*() {
      if (failing === undefined) return Option.none()
      const { retryAt, since } = failing
      const isLong = Duration.isGreaterThanOrEqualTo(DateTime.distance(since, yield* DateTime.now), limits.pause_after)
      return Option.some<Trouble>({ isPaused: isLong && stateOf(yield* states) === "open", retryAt })
    }),

    /** Waits until a circuit is not closed. */
    awaitTrouble: fails.await
  }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface Failing {
  readonly since: DateTime.Utc
  readonly retryAt: DateTime.Utc
}

/** Keeps the time of the last test while the next one is due. */
const failingSince = (
  before: Failing | undefined,
  states: ReadonlyArray<CircuitBreaker.State>,
  now: DateTime.Utc
): Failing => {
  const left = remaining(states)
  const retryAt = DateTime.addDuration(now, left)
  return { since: before?.since ?? now, retryAt: Duration.isPositive(left) ? retryAt : before?.retryAt ?? retryAt }
}

const makeBreaker = Effect.fnUntraced(
  function*({ failures_max, open_time }: UpstreamLimits) {
    return yield* CircuitBreaker.make({
      tripPolicy: CircuitBreaker.consecutive(failures_max),
      openDuration: Schedule.min([
        Schedule.exponential(open_time),
        Schedule.spaced(Duration.times(open_time, openFactorMax))
      ]),
      maxOpenDuration: retryAfterMax
    })
  },
  // A store for each upstream, since its circuits are named after the calls.
  (make) => Effect.provide(make, CircuitBreaker.layerStoreMemory())
)

/** Maximum time that a circuit is open, as a multiple of `open_time`. */
const openFactorMax = 8

/** Maximum pause that an upstream can request. */
const retryAfterMax = "10 minutes"

const stateOf = (states: ReadonlyArray<CircuitBreaker.State>): "closed" | "testing" | "open" => {
  if (states.every(({ _tag }) => _tag === "Closed")) return "closed"
  return Duration.isPositive(remaining(states)) ? "open" : "testing"
}

/** Returns the time until no circuit rejects calls. */
const remaining = (states: ReadonlyArray<CircuitBreaker.State>): Duration.Duration =>
  states.reduce(
    (most, state) => state._tag === "Open" ? Duration.max(most, state.retryAfter) : most,
    Duration.zero
  )

const outcomeOf = <A>(exit: Exit.Exit<A, GeneratorError>): CircuitBreaker.Outcome => {
  if (Exit.isSuccess(exit)) return CircuitBreaker.success
  return Option.match(Cause.findErrorOption(exit.cause), {
    onNone: () => CircuitBreaker.ignored,
    onSome: ({ reason }) => outcomeOfReason(reason)
  })
}

/** Rejections of the content of a job show that the upstream works. Other failures of a single job show nothing. */
const outcomeOfReason = (reason: Reason): CircuitBreaker.Outcome => {
  switch (reason._tag) {
    case "Transient":
      return CircuitBreaker.failure(reason)
    case "UnknownOutcome":
      return CircuitBreaker.failure()
    case "Permanent":
      if (reason.code === "content_rejected" || reason.code === "invalid_input") return CircuitBreaker.success
      return reason.code === "upstream_error" && reason.reason === "internal"
        ? CircuitBreaker.failure()
        : CircuitBreaker.ignored
    case "Lost":
      return CircuitBreaker.ignored
  }
}
