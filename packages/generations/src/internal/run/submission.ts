/** Submits a job to one of the upstreams of its model, at most once. */
import { GeneratorError, Permanent, type Reason, UnknownOutcome } from "@kinora/generator/GeneratorError"
import type { ClaimedJob } from "@kinora/scheduler/Job"
import { Scheduler } from "@kinora/scheduler/Scheduler"
import { type Duration, Effect, Exit, Result, Schedule, Scope } from "effect"
import type { Generation } from "../../Generation.ts"
import { makeOpenImages } from "./generatorImages.ts"
import { requestOf } from "./generatorRequest.ts"
import { makeClaimOperation } from "./operationClaim.ts"
import * as Progress from "./progress.ts"
import { retryStorage, retryTransient } from "./retries.ts"
import type { Upstream } from "./upstream.ts"
import type { Route, Source } from "./upstreams.ts"
import { UpstreamUnavailable } from "./upstreamUnavailable.ts"

/** A job that runs, and its progress. */
export interface RunningJob {
  readonly job: ClaimedJob
  readonly source: Source
  readonly generation: Generation
  /** When the run began, by the monotonic clock in nanoseconds. */
  readonly began: bigint
  /** Notes that the submit of the job has ended or is not needed. */
  readonly decided: () => void
  /** URL that an upstream can call when the job ends there. `undefined` without callbacks. */
  readonly callbackUrl: string | undefined
  progress: Progress.Progress
}

/** Options for `makeSubmit`. */
export interface SubmitOptions {
  /** Maximum number of retries of a submit that fails for a transient reason. */
  readonly retries: number
  /** How long results can be downloaded. */
  readonly resultTtl: Duration.Input
}

/**
 * Returns whether another upstream may get a job after this failure. Its outcome must be
 * known, and not be caused by the content of the job.
 */
export const allowsFallback = (reason: Reason): boolean =>
  reason._tag === "Transient" || (reason._tag === "Permanent" && isOfUpstream(reason))

/**
 * Makes a function that submits a job, or returns the operation of an earlier attempt. Fails
 * with `UpstreamUnavailable` if the job must wait for an upstream to work again, or for a place.
 */
export const makeSubmit = Effect.fnUntraced(function*(options: SubmitOptions) {
  const { send, sendOrWait, store } = yield* makeSend(options)

  /** Repeats a submit whose outcome is unknown, at the same upstream. */
  const repeat = Effect.fnUntraced(function*(running: RunningJob, name: string) {
    const { routes } = running.source
    const route = routes.find(({ upstream }) => upstream.name === name)
    if (route === undefined || route.upstream.generator.resubmit === "unsafe") {
      return yield* new GeneratorError({ reason: new UnknownOutcome() })
    }
    // A worker claims the jobs of the model while another upstream works, so this job is not returned to the queue.
    return yield* routes.length === 1 ? sendOrWait(running, route) : Effect.retry(send(running, route), {
      while: ({ _tag }) => _tag === "UpstreamUnavailable",
      schedule: Schedule.spaced("5 seconds")
    })
  })

  /** Makes a job that no upstream has wait in the queue. */
  const postpone = Effect.fnUntraced(function*(running: RunningJob, error: UpstreamUnavailable) {
    yield* store(running, Progress.unsent(running.progress.failed))
    return yield* error
  })

  /** Submits the job to the first upstream that takes it. */
  const sendToAny = Effect.fnUntraced(function*(running: RunningJob) {
    const { routes } = running.source
    let unavailable: UpstreamUnavailable | undefined
    let failure: GeneratorError | undefined
    for (const route of routes) {
      const { isOpen, name } = route.upstream
      if (running.progress.failed.includes(name)) continue
      if (yield* isOpen) {
        unavailable = new UpstreamUnavailable({ upstream: name, reason: "failing" })
        continue
      }
      const result = yield* Effect.result(send(running, route))
      if (Result.isSuccess(result)) return result.success
      const error = result.failure
      if (error._tag === "UpstreamUnavailable") {
        // If an upstream is full, the job waits for it. Only the jobs of a failing upstream go to another one.
        if (error.reason === "full") return yield* postpone(running, error)
        unavailable = error
        continue
      }
      if (error._tag !== "GeneratorError" || !allowsFallback(error.reason)) return yield* error
      failure = error
      running.progress = Progress.unsent([...running.progress.failed, name])
      if (routes.length > 1) yield* Effect.logWarning("An upstream did not take a job", { upstream: name }, error)
    }
    if (failure !== undefined) return yield* failure
    // Only a job that no upstream has refused waits, since a worker claims jobs for upstreams that work.
    if (unavailable === undefined || running.progress.failed.length > 0) return yield* refused
    return yield* postpone(running, unavailable)
  })

  return Effect.fnUntraced(function*(running: RunningJob) {
    const { progress } = running
    switch (progress._tag) {
      case "Sent":
        return progress
      case "Sending":
        return yield* repeat(running, progress.upstream)
      case "Unsent":
        return yield* sendToAny(running)
    }
  })
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The failure of a job that failed at an upstream earlier, while no other takes it. */
const refused = new GeneratorError({
  reason: new Permanent({
    code: "upstream_error",
    reason: "provider",
    message: "The generator failed. The job was refunded. Try again later."
  })
})

const isOfUpstream = ({ code }: Permanent): boolean => code !== "content_rejected" && code !== "invalid_input"

const isSendingTo = ({ name }: Upstream, progress: Progress.Progress): boolean =>
  progress._tag === "Sending" && progress.upstream === name

/** Takes the places of a job until the scope closes. Fails if they do not become free in time. */
const occupy = Effect.fnUntraced(function*({ places }: Source, upstream: Upstream) {
  for (const { occupy } of places === undefined ? [upstream.places] : [places, upstream.places]) {
    if (!(yield* retryStorage(occupy))) {
      return yield* new UpstreamUnavailable({ upstream: upstream.name, reason: "full" })
    }
  }
})

/** Makes a function that changes the progress of a job and stores it. */
const makeStore = Effect.map(
  Scheduler,
  (scheduler) => (running: RunningJob, progress: Progress.Progress) =>
    Effect.suspend(() => {
      running.progress = progress
      const { job: { epoch, job }, source } = running
      const upstream = progress._tag === "Unsent" ? undefined : progress.upstream
      const credential = source.routes.find((route) => route.upstream.name === upstream)?.upstream.credential
      const checkpoint = Progress.toCheckpoint(progress, credential)
      // A job that an upstream has needs no room there, so its next worker polls it also while the circuit is open.
      return retryStorage(scheduler.checkpoint({ job, epoch, checkpoint, resumable: progress._tag === "Sent" }))
    })
)

/** Makes the functions that submit a job to an upstream, and the one that stores its progress. */
const makeSend = Effect.fnUntraced(function*({ resultTtl, retries }: SubmitOptions) {
  const claimOperation = yield* makeClaimOperation(resultTtl)
  const openImages = yield* makeOpenImages
  const store = yield* makeStore
  const persist = retryTransient(retries)

  const sendNow = Effect.fnUntraced(function*(running: RunningJob, { options, upstream }: Route) {
    const { resubmit } = upstream.generator
    yield* occupy(running.source, upstream)
    // Stored after the job has got its places, since a job that waits for them can be submitted by any worker.
    if (!isSendingTo(upstream, running.progress) && (resubmit === "unsafe" || running.source.routes.length > 1)) {
      yield* store(running, Progress.sending(upstream.name, running.progress.failed))
    }
    const images = yield* persist(openImages(running.generation.images))
    const callbackUrl = upstream.generator.callsBack === true ? running.callbackUrl : undefined
    const request = requestOf(running.generation, { model: running.source.model, options }, { callbackUrl, images })
    const operation = yield* persist(upstream.submit(request))
    // Before the operation is stored as that of the job, so that a worker that continues never checks it again.
    yield* claimOperation({ job: running.job.job, model: running.source.model, operation, upstream })
    const sent = Progress.sent({
      upstream: upstream.name,
      operation,
      callsBack: callbackUrl !== undefined,
      failed: running.progress.failed
    })
    // Stored before the first poll, so that another worker polls this operation instead of submitting again.
    yield* store(running, sent)
    return sent
  })

  /** Submits the job to an upstream. The scope holds its place there, unless the upstream does not take it. */
  const send = Effect.fnUntraced(function*(running: RunningJob, route: Route) {
    const place = yield* Scope.fork(yield* Effect.scope)
    return yield* Effect.onError(
      Scope.provide(sendNow(running, route), place),
      (cause) => Scope.close(place, Exit.failCause(cause))
    )
  })

  /** Submits the job, or makes it wait in the queue for the upstream, also if it was there and the upstream has lost it. */
  const sendOrWait = (running: RunningJob, route: Route) =>
    Effect.tapErrorTag(
      send(running, route),
      "UpstreamUnavailable",
      () => store(running, Progress.sending(route.upstream.name, running.progress.failed))
    )

  return { send, sendOrWait, store }
})
