/**
 * The calls of this process to one upstream: how many at a time, how many per minute, and
 * none while the upstream fails. An upstream is a configured driver, with its address and
 * its credential: what fails together.
 */
import type { GenerationRequest } from "@kinora/generator/GenerationRequest"
import type { Generator, Operation, Status } from "@kinora/generator/Generator"
import { GeneratorError, Transient } from "@kinora/generator/GeneratorError"
import type { UpstreamLimits } from "@kinora/generator/UpstreamLimits"
import { Effect, type Option, Schema, type Scope, Semaphore } from "effect"
import { makeCircuit, type Trouble } from "./circuit.ts"
import { makeRate } from "./submitRate.ts"

/** An upstream of this process. */
export interface Upstream {
  /** Name of the driver in the configuration. Stored with each operation. */
  readonly name: string
  /** For the calls that no limit applies to: `cancel` and `collect`. */
  readonly generator: Generator["Service"]
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
  /** Takes a place at the upstream until the scope closes. Waits while `concurrency` other jobs have one. */
  readonly occupy: Effect.Effect<void, never, Scope.Scope>
  /** Submits a request. Fails with `UpstreamUnavailable`, without a call, while the upstream fails. */
  readonly submit: (request: GenerationRequest) => Effect.Effect<Operation, GeneratorError | UpstreamUnavailable>
  /** Polls an operation. Fails with `Transient`, without a call, while the upstream fails. */
  readonly poll: (operation: Operation) => Effect.Effect<Status, GeneratorError>
}

/** A job that was claimed for an upstream. */
export interface Expected {
  /** Notes that the submit of the job has ended or is not needed. */
  readonly decided: () => void
}

/** The upstream fails and is not called. The request was not submitted. */
export class UpstreamUnavailable
  extends Schema.TaggedError<UpstreamUnavailable>("@kinora/generations/UpstreamUnavailable")("UpstreamUnavailable", {
    upstream: Schema.String
  })
{}

/** Options for `make`. */
export interface UpstreamOptions {
  readonly name: string
  readonly generator: Generator["Service"]
  readonly limits: UpstreamLimits
}

/** Makes the calls of this process to an upstream. */
export const make = Effect.fnUntraced(function*({ generator, limits, name }: UpstreamOptions) {
  const { concurrency = Infinity, requests_per_minute: perMinute = Infinity } = limits
  const circuit = yield* makeCircuit(name, limits)
  const rate = makeRate(perMinute)
  const places = Semaphore.makeUnsafe(concurrency)
  let expected = 0
  let undecided = 0

  const expect = Effect.acquireRelease(
    Effect.sync(() => {
      let isDecided = false
      expected++
      undecided++
      return {
        decided: () => {
          if (!isDecided) undecided--
          isDecided = true
        }
      }
    }),
    ({ decided }) =>
      Effect.sync(() => {
        decided()
        expected--
      })
  )

  const room = Effect.gen(function*() {
    const state = yield* circuit.state
    // A single job tests whether the upstream works again.
    const tested = state === "closed" ? Infinity : state === "open" ? 0 : 1 - undecided
    return Math.max(0, Math.min(concurrency - expected, (yield* rate.left) - undecided, tested))
  })

  const upstream: Upstream = {
    name,
    generator,
    room,
    isOpen: Effect.map(circuit.state, (state) => state === "open"),
    trouble: circuit.trouble,
    awaitTrouble: circuit.awaitTrouble,
    expect,
    occupy: Effect.asVoid(Effect.acquireRelease(places.take(1), () => places.release(1), { interruptible: true })),
    submit: (request) =>
      Effect.andThen(rate.take, circuit.guard("submit", generator.submit(request))).pipe(
        Effect.catchTag(
          "CircuitBreakerError",
          () => Effect.fail(new UpstreamUnavailable({ upstream: name }))
        )
      ),
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
