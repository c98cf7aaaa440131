/**
 * The calls of this process to one upstream: how many jobs at a time and how many submits per minute, over
 * all worker processes, and none while the upstream fails. An upstream is a configured driver, with its
 * address and its credential: what fails together.
 */
import type { GenerationRequest } from "@kinora/generator/GenerationRequest"
import type { Generator, Operation, Status } from "@kinora/generator/Generator"
import { GeneratorError, Transient } from "@kinora/generator/GeneratorError"
import type { UpstreamLimits } from "@kinora/generator/UpstreamLimits"
import type { StorageError } from "@kinora/persistence/StorageError"
import { type Duration, Effect, type Option, type Scope } from "effect"
import { makeCircuit, type Trouble } from "./circuit.ts"
import { type JobPlaces, makeJobPlaces } from "./jobPlaces.ts"
import { retryStorage } from "./retries.ts"
import { makeSubmitRate } from "./submitRate.ts"
import { UpstreamUnavailable } from "./upstreamUnavailable.ts"

/** An upstream of this process. */
export interface Upstream {
  /** Name of the driver in the configuration. Stored with each operation. */
  readonly name: string
  /** Name of the account, if the configuration has one. Stored with each operation. */
  readonly credential: string | undefined
  /** Identifies the account at the upstream in limits and claims of operations. With `per_worker`, each process has one. */
  readonly account: string
  /** For the calls that no limit applies to: `cancel` and `collect`. */
  readonly generator: Generator["Service"]
  /** Longest time between two polls of an operation whose upstream calls back. */
  readonly callbackPollMax: Duration.Duration
  /** Returns how many more jobs can start now. */
  readonly room: Effect.Effect<number>
  /** Returns whether submits are rejected at the moment. */
  readonly isOpen: Effect.Effect<boolean>
  /** Whether the upstream fails. `None` while it works. */
  readonly trouble: Effect.Effect<Option.Option<Trouble>>
  /** Waits until `trouble` is not `None`. */
  readonly awaitTrouble: Effect.Effect<void>
  /** Counts a job that was claimed for the upstream until the scope closes. */
  readonly expect: Effect.Effect<Expected, never, Scope.Scope>
  /** The places of its jobs. */
  readonly places: JobPlaces
  /** Submits a request. Fails with `UpstreamUnavailable`, without a call, while the upstream fails or has too many submits. */
  readonly submit: (
    request: GenerationRequest
  ) => Effect.Effect<Operation, GeneratorError | StorageError | UpstreamUnavailable>
  /** Polls an operation. Fails with `Transient`, without a call, while the upstream fails. */
  readonly poll: (operation: Operation) => Effect.Effect<Status, GeneratorError>
}

/** A job that was claimed for an upstream. */
export interface Expected {
  /** Notes that the submit of the job has ended or is not needed. */
  readonly decided: () => void
}

/** Options for `make`. */
export interface UpstreamOptions {
  readonly name: string
  readonly generator: Generator["Service"]
  readonly limits: UpstreamLimits
  /** Distinguishes this process from the others of the same limits. */
  readonly process: string
}

/** Makes the calls of this process to an upstream. */
export const make = Effect.fnUntraced(function*({ generator, limits, name, process }: UpstreamOptions) {
  const { concurrency, credential, per_worker, requests_per_minute: perMinute } = limits
  const account = `${credential ?? name}${per_worker === true ? `/${process}` : ""}`
  const circuit = yield* makeCircuit(name, limits)
  const places = yield* makeJobPlaces({ key: `upstream-jobs/${account}`, max: concurrency })
  const rate = yield* makeSubmitRate({ key: `upstream-submits/${account}`, perMinute })
  const unavailable = (reason: UpstreamUnavailable["reason"]) => new UpstreamUnavailable({ upstream: name, reason })
  let undecided = 0

  const undecide = Effect.acquireRelease(
    Effect.sync(() => {
      let isDecided = false
      undecided++
      return {
        decided: () => {
          if (!isDecided) undecided--
          isDecided = true
        }
      }
    }),
    ({ decided }) => Effect.sync(decided)
  )

  const room = Effect.gen(function*() {
    const state = yield* circuit.state
    // A single job tests whether the upstream works again.
    const tested = state === "closed" ? Infinity : state === "open" ? 0 : 1 - undecided
    if (tested <= 0) return 0
    return Math.max(0, Math.min(yield* places.left, (yield* rate.left) - undecided, tested))
  })

  const upstream: Upstream = {
    name,
    credential,
    account,
    generator,
    callbackPollMax: limits.callback_poll_max,
    room,
    isOpen: Effect.map(circuit.state, (state) => state === "open"),
    trouble: circuit.trouble,
    awaitTrouble: circuit.awaitTrouble,
    expect: Effect.andThen(places.expect, undecide),
    places,
    submit: Effect.fnUntraced(function*(request) {
      if (!(yield* retryStorage(rate.take))) return yield* unavailable("full")
      return yield* Effect.catchTag(
        circuit.guard("submit", Effect.suspend(() => generator.submit(request))),
        "CircuitBreakerError",
        () => Effect.fail(unavailable("failing"))
      )
    }),
    poll: (operation) =>
      Effect.catchTag(
        circuit.guard("poll", generator.poll(operation)),
        "CircuitBreakerError",
        ({ reason }) =>
          Effect.fail(
            new GeneratorError({
              reason: new Transient(reason._tag === "CircuitOpen" ? { retryAfter: reason.retryAfter } : {})
            })
          )
      )
  }
  return upstream
})
