/** Calls that the tests of the contract share. They check what holds for every call. */
import { assert, it } from "@effect/vitest"
import {
  Context,
  type Duration,
  Effect,
  Fiber,
  Layer,
  Predicate,
  Result,
  type Schema,
  type Scope,
  Stream
} from "effect"
import { Base64 } from "effect/encoding"
import { TestClock } from "effect/testing"
import type { GenerationRequest } from "../../GenerationRequest.ts"
import * as Generator from "../../Generator.ts"
import type { GeneratorError } from "../../GeneratorError.ts"
import type { ContractOptions } from "./options.ts"

/** A process with the generator. */
export type Instance = Generator.Generator["Service"]

/** The calls of the tests. */
export type Contract = ReturnType<typeof make>

/** Polls after which work counts as endless. */
const pollsMax = 10_000

/** Maximum length of an operation in characters. It is stored with its job. */
const operationLengthMax = 64 * 1024

/** Creates the calls of the tests. */
export const make = <E>({ generator, request: changes, secrets = [], time = "test" }: ContractOptions<E>) => {
  let ids = 0

  /** Builds a new process. */
  const start = Effect.map(Effect.suspend(() => Layer.build(Layer.fresh(generator))), Context.get(Generator.Generator))

  /** Returns a request with a new id. */
  const request = (further: Partial<GenerationRequest> = {}): GenerationRequest => ({
    id: `contract-${++ids}`,
    model: { name: "contract", options: {} },
    kind: "image",
    mode: "text_to_image",
    prompt: "a lake",
    params: {},
    images: [],
    format: "png",
    ...changes,
    ...further
  })

  const checkSecrets = (text: string) => {
    for (const secret of secrets) assert.notInclude(text, secret)
  }

  /** Submits a request, and returns the operation as another process reads it from the database. */
  const submit = Effect.fnUntraced(function*(instance: Instance, request: GenerationRequest) {
    const text = JSON.stringify(yield* instance.submit(request))
    assert.isAtMost(text.length, operationLengthMax, "an operation is small")
    checkSecrets(text)
    return JSON.parse(text) as Schema.Json
  })

  const wait = (after: Duration.Duration) => time === "live" ? Effect.sleep(after) : TestClock.adjust(after)

  /** Polls once. A poll may wait up to about a second. */
  const pollOnce = Effect.fnUntraced(function*(instance: Instance, operation: Generator.Operation) {
    if (time === "live") return yield* instance.poll(operation)
    const poll = yield* Effect.forkChild(instance.poll(operation))
    yield* TestClock.adjust("2 seconds")
    return yield* Fiber.join(poll)
  })

  /** Polls until the work has ended. */
  const ended = Effect.fnUntraced(function*(instance: Instance, operation: Generator.Operation) {
    for (let polls = 0; polls < pollsMax; polls++) {
      const status = yield* instance.poll(operation)
      if (status._tag !== "Pending") return status
      if (status.progress !== undefined) assert.isTrue(status.progress >= 0 && status.progress <= 1, "progress")
      yield* wait(status.after)
    }
    return assert.fail(`the work is pending after ${pollsMax} polls`)
  })

  /** Polls until the work has succeeded, and returns its result. */
  const result = Effect.fnUntraced(function*(instance: Instance, operation: Generator.Operation) {
    const status = yield* ended(instance, operation)
    assert.strictEqual(status._tag, "Succeeded", status._tag === "Failed" ? status.error.message : "")
    return yield* read(instance, operation)
  })

  const test = <E>(name: string, body: Effect.Effect<unknown, E, Scope.Scope>) =>
    time === "live" ? it.live(name, () => body) : it.effect(name, () => body)

  return { checkSecrets, ended, pollOnce, request, result, start, submit, test }
}

/** Reads a result to its end, as base64: texts are compared much faster than arrays. */
export const read = Effect.fnUntraced(function*(instance: Instance, operation: Generator.Operation) {
  const { body, mime } = yield* instance.collect(operation)
  return { mime, base64: Base64.encode(yield* Stream.mkUint8Array(body)) }
}, Effect.scoped)

/** Returns the reason of a failing call, or of the status `Failed`. */
export const failureOf = Effect.fnUntraced(function*(call: Effect.Effect<unknown, GeneratorError>) {
  const result = yield* Effect.result(call)
  if (Result.isFailure(result)) return result.failure.reason
  return isFailed(result.success) ? result.success.error : assert.fail("the call succeeds")
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const isFailed = (status: unknown): status is Generator.Failed => Predicate.isTagged(status, "Failed")
