/** The contract of every driver with operations, against a server that speaks its protocol. */
import { assert, describe, it } from "@effect/vitest"
import type { Driver } from "@kinora/generator/Driver"
import type { GenerationRequest } from "@kinora/generator/GenerationRequest"
import { Generator, type Operation, type Output } from "@kinora/generator/Generator"
import type { GeneratorError } from "@kinora/generator/GeneratorError"
import {
  drops,
  responds,
  type Scripted,
  sendsForever,
  stops,
  truncates,
  upstreamText
} from "@kinora/testkit/upstreams/ScriptedServer"
import { Context, Duration, Effect, Layer, type Scope, Stream } from "effect"
import { TestClock } from "effect/testing"

/** The key that drivers are configured with. */
export const apiKey = "hunter2-hunter2"

/** The file that jobs result in. */
export const resultBytes = Uint8Array.from({ length: 50_000 }, (_, index) => index % 251)

/** Makes valid requests for images of a model. */
export const imageRequests =
  (model: GenerationRequest["model"]) => (id: string, rest: Partial<GenerationRequest> = {}): GenerationRequest => ({
    id,
    model,
    kind: "image",
    mode: "text_to_image",
    prompt: "a lake at night",
    params: { aspect_ratio: "16:9" },
    images: [],
    format: "png",
    seed: 7,
    ...rest
  })

/** A protocol: its driver, and a server with controls. Controls apply to the job of the operation. */
export interface Protocol {
  readonly name: string
  readonly driver: Driver
  readonly resubmit: "safe" | "unsafe"
  /** Method and start of the path of each call. */
  readonly paths: { readonly submit: string; readonly poll: string; readonly result: string }
  readonly mime: string
  /** Reason of a job that the server has forgotten. */
  readonly whenLost: "Lost" | "Permanent"
  readonly start: Effect.Effect<Running, never, Scope.Scope>
}

/** A running server of a protocol. */
interface Running {
  readonly server: Scripted
  /** The server of results. Default: `server`. */
  readonly files?: Scripted
  /** Options of the driver, without limits. */
  readonly options: Readonly<Record<string, unknown>>
  /** A valid request with this id. */
  readonly request: (id: string) => GenerationRequest
  /** Jobs that the server has accepted and not ended. */
  readonly jobs: () => number
  /** Completes the only job with `resultBytes`. */
  readonly finish: () => void
  /** Fails the only job with `upstreamText`. */
  readonly fail: () => void
  /** Puts the only job into a state that the documentation does not name. */
  readonly confuse: () => void
  /** Forgets all jobs. */
  readonly restart: () => void
}

/** Builds a driver with options and returns its generator. */
export const generatorOf = Effect.fnUntraced(function*(driver: Driver, options: unknown) {
  const layer = yield* Effect.fromResult(driver.generator(options))
  return Context.get(yield* Layer.build(layer), Generator)
}, Effect.orDie)

/** Reads a result to its end. */
export const read = (output: Output) =>
  Effect.map(Stream.runCollect(output.body), (parts) => new Uint8Array(Buffer.concat([...parts])))

/** Returns the reason of the failure of an effect. */
export const reasonOf = <A, R>(effect: Effect.Effect<A, GeneratorError, R>) =>
  Effect.map(Effect.flip(effect), ({ reason }) => reason)

/** Tests a driver against its protocol. */
export const suite = (protocol: Protocol) =>
  describe(protocol.name, () => {
    submits(protocol)
    polls(protocol)
    cancels(protocol)
    collects(protocol)
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const started = Effect.fnUntraced(
  function*({ driver, start }: Protocol, limits: Readonly<Record<string, unknown>> = {}) {
    const running = yield* start
    const build = generatorOf(driver, { ...running.options, ...limits })
    return { ...running, build, generator: yield* build }
  }
)

const submitted = Effect.fnUntraced(function*(protocol: Protocol, limits: Readonly<Record<string, unknown>> = {}) {
  const running = yield* started(protocol, limits)
  const operation = yield* running.generator.submit(running.request("job/1"))
  return { ...running, operation }
})

/** Reasons of responses of any call that changes nothing. */
const refusals = [
  [401, {}, { _tag: "Permanent", code: "upstream_error", reason: "internal" }],
  [403, {}, { _tag: "Permanent", code: "upstream_error", reason: "internal" }],
  [402, {}, { _tag: "Permanent", code: "upstream_error", reason: "internal" }],
  [429, { "retry-after": "7" }, { _tag: "Transient", retryAfter: Duration.seconds(7) }],
  [503, { "retry-after": "7" }, { _tag: "Transient", retryAfter: Duration.seconds(7) }]
] as const

const submits = (protocol: Protocol) => {
  const { paths, resubmit } = protocol
  const unanswered = resubmit === "safe" ? "Transient" : "UnknownOutcome"

  it.effect("submits one job and returns an operation of small JSON without secrets and prompt", () =>
    Effect.gen(function*() {
      const { generator, jobs, operation, request } = yield* submitted(protocol)
      const text = JSON.stringify(operation)
      assert.deepStrictEqual(JSON.parse(text), operation)
      for (const hidden of [apiKey, request("a").prompt]) assert.notInclude(text, hidden)
      assert.isBelow(text.length, 1024)
      assert.strictEqual(generator.resubmit, resubmit)
      assert.strictEqual(jobs(), 1)
    }))

  it.effect(`${resubmit === "safe" ? "finds the job of" : "starts new work for"} a request that is submitted again`, () =>
    Effect.gen(function*() {
      const { build, jobs, operation, request } = yield* submitted(protocol)
      const again = yield* Effect.flatMap(build, ({ submit }) => submit(request("job/1")))
      assert.strictEqual(jobs(), resubmit === "safe" ? 1 : 2)
      if (resubmit === "safe") assert.deepStrictEqual(again, operation)
    }))

  for (const [status, headers, reason] of refusals) {
    it.effect(`fails with ${reason._tag} if the upstream responds to submit with ${status}`, () =>
      Effect.gen(function*() {
        const { generator, jobs, request, server } = yield* started(protocol)
        server.next(paths.submit, responds(status, headers))
        const failure = yield* reasonOf(generator.submit(request("job/1")))
        assert.deepInclude(failure, reason)
        assert.notInclude(JSON.stringify(failure), upstreamText)
        assert.strictEqual(jobs(), 0)
      }))
  }

  for (const [name, handle] of [["no response", drops], ["500", responds(500)], ["text", notJson]] as const) {
    it.effect(`fails with ${unanswered} if the upstream responds to submit with ${name}`, () =>
      Effect.gen(function*() {
        const { generator, request, server } = yield* started(protocol)
        server.next(paths.submit, handle)
        assert.strictEqual((yield* reasonOf(generator.submit(request("job/1"))))._tag, unanswered)
      }))
  }

  it.effect("fails with Transient if the upstream cannot be reached", () =>
    Effect.gen(function*() {
      const { driver, start } = protocol
      const running = yield* Effect.scoped(start)
      const generator = yield* generatorOf(driver, running.options)
      assert.strictEqual((yield* reasonOf(generator.submit(running.request("job/1"))))._tag, "Transient")
    }))
}

const polls = (protocol: Protocol) => {
  const { paths, whenLost } = protocol

  it.effect("waits while the job waits, runs, or has an unknown state", () =>
    Effect.gen(function*() {
      const { confuse, generator, operation } = yield* submitted(protocol, { poll_interval: "3 seconds" })
      assert.deepInclude(yield* generator.poll(operation), { _tag: "Pending", after: Duration.seconds(3) })
      confuse()
      assert.strictEqual((yield* generator.poll(operation))._tag, "Pending")
    }))

  it.effect("fails permanently if the job failed, without the text of the upstream", () =>
    Effect.gen(function*() {
      const { fail, generator, operation } = yield* submitted(protocol)
      fail()
      const status = yield* generator.poll(operation)
      assert.strictEqual(status._tag, "Failed")
      assert.notInclude(JSON.stringify(status), upstreamText)
    }))

  it.effect(`fails with ${whenLost} if the upstream has lost the job`, () =>
    Effect.gen(function*() {
      const { generator, operation, restart } = yield* submitted(protocol)
      restart()
      assert.strictEqual((yield* reasonOf(generator.poll(operation)))._tag, whenLost)
    }))

  for (
    const [name, handle] of [["no response", drops], ["500", responds(500)], ["text", notJson], [
      "429",
      responds(429)
    ]] as const
  ) {
    it.effect(`can poll again if the upstream responds to a poll with ${name}`, () =>
      Effect.gen(function*() {
        const { generator, operation, server } = yield* submitted(protocol)
        server.next(paths.poll, handle)
        assert.strictEqual((yield* reasonOf(generator.poll(operation)))._tag, "Transient")
        assert.strictEqual((yield* generator.poll(operation))._tag, "Pending")
      }))
  }

  it.effect("continues in another process at every point", () =>
    Effect.gen(function*() {
      const { build, finish, operation } = yield* submitted(protocol)
      const stored = JSON.parse(JSON.stringify(operation)) as Operation
      assert.strictEqual((yield* Effect.flatMap(build, ({ poll }) => poll(stored)))._tag, "Pending")
      finish()
      assert.strictEqual((yield* Effect.flatMap(build, ({ poll }) => poll(stored)))._tag, "Succeeded")
      const output = yield* Effect.flatMap(build, ({ collect }) => collect(stored))
      assert.deepStrictEqual(yield* read(output), resultBytes)
    }))

  it.effect("does not accept operations of other drivers", () =>
    Effect.gen(function*() {
      const { generator } = yield* started(protocol)
      for (const operation of [null, {}, { driver: "other", id: "a" }, "job/1"]) {
        assert.strictEqual((yield* generator.poll(operation))._tag, "Failed")
        yield* generator.cancel(operation)
        assert.strictEqual((yield* reasonOf(generator.collect(operation)))._tag, "Permanent")
      }
    }))
}

const cancels = (protocol: Protocol) => {
  it.effect("cancels a job, from any process and more than once", () =>
    Effect.gen(function*() {
      const { build, generator, jobs, operation } = yield* submitted(protocol)
      yield* Effect.flatMap(build, ({ cancel }) => cancel(operation))
      assert.strictEqual(jobs(), 0)
      yield* generator.cancel(operation)
    }))

  it.effect("cancels nothing if the job is lost", () =>
    Effect.gen(function*() {
      const { generator, operation, restart } = yield* submitted(protocol)
      restart()
      yield* generator.cancel(operation)
    }))
}

const collects = (protocol: Protocol) => {
  const { mime, paths } = protocol

  it.effect("returns the result more than once, with its media type", () =>
    Effect.gen(function*() {
      const { finish, generator, operation } = yield* submitted(protocol)
      finish()
      for (const _ of [1, 2]) {
        const output = yield* generator.collect(operation)
        assert.strictEqual(output.mime, mime)
        assert.deepStrictEqual(yield* read(output), resultBytes)
      }
    }))

  it.effect("rejects a result that is too long", () =>
    Effect.gen(function*() {
      const { finish, generator, operation } = yield* submitted(protocol, { result_bytes_max: resultBytes.length - 1 })
      finish()
      assert.strictEqual((yield* reasonOf(Effect.flatMap(generator.collect(operation), read)))._tag, "Permanent")
    }))

  it.effect("stops reading a result without length at the limit", () =>
    Effect.gen(function*() {
      const { finish, generator, operation, server, files = server } = yield* submitted(protocol, {
        result_bytes_max: 100_000
      })
      finish()
      files.next(paths.result, sendsForever(mime))
      assert.strictEqual((yield* reasonOf(Effect.flatMap(generator.collect(operation), read)))._tag, "Permanent")
    }))

  it.effect("can read a result again that stopped for longer than the limit", () =>
    Effect.gen(function*() {
      const { finish, generator, operation, server, files = server } = yield* submitted(protocol, {
        idle_timeout: "5 seconds"
      })
      finish()
      files.next(paths.result, stops(mime))
      const output = yield* generator.collect(operation)
      const passTime = Effect.forever(Effect.andThen(TestClock.adjust("5 seconds"), Effect.yieldNow))
      assert.strictEqual((yield* reasonOf(Effect.raceFirst(read(output), passTime)))._tag, "Transient")
    }))

  for (const [status, tag] of [[404, "Permanent"], [302, "Permanent"], [500, "Transient"]] as const) {
    it.effect(`fails with ${tag} if the upstream responds to collect with ${status}`, () =>
      Effect.gen(function*() {
        const { finish, generator, operation, server, files = server } = yield* submitted(protocol)
        finish()
        files.next(paths.result, responds(status, { location: "ftp://127.0.0.1/" }))
        const failure = yield* reasonOf(generator.collect(operation))
        assert.strictEqual(failure._tag, tag)
        assert.notInclude(JSON.stringify(failure), upstreamText)
      }))
  }

  it.effect("can read a result again whose connection ended early", () =>
    Effect.gen(function*() {
      const { finish, generator, operation, server, files = server } = yield* submitted(protocol)
      finish()
      files.next(paths.result, truncates(mime, resultBytes))
      const collected = Effect.flatMap(generator.collect(operation), read)
      assert.strictEqual((yield* reasonOf(collected))._tag, "Transient")
      assert.deepStrictEqual(yield* collected, resultBytes)
    }))
}

const notJson: Parameters<Scripted["next"]>[1] = (_, response) => void response.writeHead(200).end("<html>")
