/** The operation that a generator runs for a job: submitted once, then polled until it ends. */
import type { Status } from "@kinora/generator/Generator"
import { GeneratorError, Permanent } from "@kinora/generator/GeneratorError"
import { Clock, DateTime, Duration, Effect, type Latch, Option } from "effect"
import { Callbacks } from "../../Callbacks.ts"
import { isFinal } from "../../Generation.ts"
import { GenerationStore } from "../../GenerationStore.ts"
import { pollPause } from "./pollPause.ts"
import * as Progress from "./progress.ts"
import { retryUntilInterrupted, type RunError } from "./retries.ts"
import { allowsFallback, makeSubmit, type RunningJob, type SubmitOptions } from "./submission.ts"
import type { Upstream } from "./upstream.ts"
import type { Upstreams } from "./upstreams.ts"

/** Options for `makeRunOperation`. */
export interface OperationOptions extends SubmitOptions {
  readonly upstreams: Pick<Upstreams, "find">
}

/** An operation, and the upstream that runs it. */
export interface Taken {
  readonly sent: Progress.Sent
  readonly upstream: Upstream
}

/** Makes a function that runs the operation of a job to its end and returns it. */
export const makeRunOperation = Effect.fnUntraced(function*({ upstreams, ...options }: OperationOptions) {
  const callbacks = yield* Callbacks
  const hasNoSuccessor = yield* makeHasNoSuccessor
  const submit = yield* makeSubmit(options)

  const upstreamOf = Effect.fnUntraced(function*({ upstream: name }: Progress.Sent) {
    const upstream = upstreams.find(name)
    if (upstream !== undefined) return upstream
    yield* Effect.logWarning("The upstream of a job is not configured any more", { upstream: name })
    return yield* new GeneratorError({ reason: removed })
  })

  /** Runs the job at one upstream. The scope holds its place there. */
  const runOnce = Effect.fnUntraced(function*(running: RunningJob) {
    const isResumed = running.progress._tag === "Sent"
    const sent = yield* submit(running)
    running.decided()
    const upstream = yield* upstreamOf(sent)
    if (isResumed) yield* resume(running, upstream)
    const taken: Taken = { sent, upstream }
    // A callback that arrived before is followed by the first poll.
    const called = yield* callbacks.watch(running.generation.id)
    // A worker that lost its lease or shuts down does not cancel: another worker continues with the operation.
    const status = yield* Effect.onInterrupt(
      awaitEnd(taken, called),
      () => Effect.when(cancel(taken), hasNoSuccessor(running))
    )
    return { ...taken, status }
  }, Effect.scoped)

  return Effect.fnUntraced(function*(running: RunningJob) {
    while (true) {
      const { sent, status, upstream } = yield* runOnce(running)
      if (status._tag === "Succeeded") return { sent, upstream }
      const failed = [...sent.failed, upstream.name]
      if (!allowsFallback(status.error) || !(yield* hasOther(running, failed))) {
        return yield* new GeneratorError({ reason: status.error })
      }
      yield* Effect.logWarning("A job failed at an upstream, and is submitted to another one", {
        upstream: upstream.name
      }, status.error)
      // Stored with the next submit. Until then, another worker would find the failed operation again.
      running.progress = Progress.unsent(failed)
    }
  })
})

/** Cancels an operation, so that it does not continue without a job. Gives up after a while. */
export const cancel = ({ sent, upstream }: Taken): Effect.Effect<void> =>
  Effect.ignore(Effect.timeout(upstream.generator.cancel(sent.operation), cancelTimeout), {
    log: "Warn",
    message: "An operation could not be cancelled"
  })

/** Returns `true` if the generator has lost the operation of a job. */
export const isLost = (error: RunError): boolean => error._tag === "GeneratorError" && error.reason._tag === "Lost"

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Maximum time that the end of a job waits for the cancellation of its operation. */
const cancelTimeout = "10 seconds"

const removed = new Permanent({
  code: "upstream_error",
  reason: "internal",
  message: "The generator of the job is no longer configured. The job was refunded. Try again."
})

/** Polls until the operation ends. An upstream that does not respond may still do paid work, so only the time limit ends the polls. */
const awaitEnd = Effect.fnUntraced(function*(taken: Taken, called: Latch.Latch) {
  const { sent, upstream } = taken
  const pause = makePause(taken, called, yield* Clock.monotonicTimeNanos)
  while (true) {
    // A callback that arrives during the poll can be newer than its response, and is followed by another poll.
    yield* called.close
    const status: Status = yield* retryUntilInterrupted(upstream.poll(sent.operation))
    if (status._tag !== "Pending") return status
    yield* pause(status.after)
  }
})

/** Counts a job that an earlier worker has submitted, until the scope closes. A job does not fail because of that. */
const resume = ({ source: { places } }: RunningJob, upstream: Upstream) =>
  Effect.ignore(Effect.andThen(upstream.places.resume, places?.resume ?? Effect.void), {
    log: "Warn",
    message: "A job that was taken over has no place in the limits"
  })

/**
 * Makes the pause between two polls, from the interval of the driver. If the upstream calls back,
 * each pause is twice as long as the last one and ends when `called` opens. `began` is when the polls
 * began, by the monotonic clock in nanoseconds.
 */
const makePause = ({ sent, upstream }: Taken, called: Latch.Latch, began: bigint) => {
  let last = Duration.zero
  let isCalled = false
  return Effect.fnUntraced(function*(after: Duration.Duration) {
    if (!sent.callsBack) {
      return yield* Effect.sleep(upstream.generator.spacesPolls === true ? yield* pollPause(after, began) : after)
    }
    last = isCalled ? after : Duration.max(after, Duration.min(Duration.times(last, 2), upstream.callbackPollMax))
    if (!isCalled) {
      isCalled = Option.isSome(yield* Effect.timeoutOption(called.await, last))
      return
    }
    // The upstream called before its API reports the end, or calls repeatedly, which causes at most two polls per interval.
    isCalled = false
    yield* Effect.sleep(after)
  })
}

/** Returns whether an upstream that has not failed can get the job now. */
const hasOther = ({ source }: RunningJob, failed: ReadonlyArray<string>) =>
  Effect.map(
    Effect.forEach(
      source.routes.filter(({ upstream }) => !failed.includes(upstream.name)),
      ({ upstream }) => upstream.isOpen
    ),
    (others) => others.includes(false)
  )

/**
 * Makes a function that returns whether no worker continues with an interrupted job: it has reached its time limit, or
 * an operator has failed it. If the database does not respond in time, the operation continues.
 */
const makeHasNoSuccessor = Effect.map(GenerationStore, (store) => (running: RunningJob): Effect.Effect<boolean> => {
  const hasEnded = Effect.map(
    store.find([running.generation.id]),
    (found) => found.some(({ status }) => isFinal(status))
  )
  return Effect.flatMap(
    hasTimedOut(running),
    (hasTimedOut) =>
      hasTimedOut ? Effect.succeed(true) : hasEnded.pipe(
        Effect.timeout(endedTimeout),
        Effect.catchCause(() => Effect.succeed(false))
      )
  )
})

/** Maximum time that an interrupted job waits for its status. */
const endedTimeout = "1 second"

/**
 * Returns `true` if the job has reached its time limit, after which no worker takes it
 * over. Timers can fire early, so the last second counts as reached. The times of the job are the
 * database's, so the clock of this host counts only since the run began.
 */
const hasTimedOut = ({ began, job }: RunningJob) =>
  Effect.map(Clock.monotonicTimeNanos, (now) => {
    const before = DateTime.distance(job.startedAt, job.claimedAt)
    const ran = Duration.sum(before, Duration.nanos(now - began))
    return Option.exists(
      job.timeLimit,
      (limit) => Duration.isGreaterThan(Duration.sum(ran, Duration.seconds(1)), limit)
    )
  })
