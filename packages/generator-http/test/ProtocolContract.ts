/** The contract of drivers with operations, against a server that speaks their protocol. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import type { Driver } from "@kinora/generator/Driver"
import type { GenerationRequest } from "@kinora/generator/GenerationRequest"
import { Generator, type Output } from "@kinora/generator/Generator"
import type { FailureCode, GeneratorError } from "@kinora/generator/GeneratorError"
import * as Testing from "@kinora/generator/testing"
import type { Handler } from "@kinora/testkit/upstreams/Listener"
import { png } from "@kinora/testkit/upstreams/Results"
import {
  drops,
  type Line,
  responds,
  type Scripted,
  sendsForever,
  stops,
  truncates,
  upstreamText
} from "@kinora/testkit/upstreams/ScriptedServer"
import { Context, Duration, Effect, Exit, Layer, Scope, Stream } from "effect"
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
  /** Method and path of each call. */
  readonly lines: { readonly submit: Line; readonly poll: Line; readonly result: Line }
  readonly mime: string
  /** Reason of a job that the server has forgotten. */
  readonly whenLost: "Lost" | "Permanent"
  /** Reason of a poll that the server responds to with 404. Default: `whenLost`. */
  readonly whenGone?: "Lost" | "Permanent"
  /** Code of a request that the server rejects. Default `invalid_input`. */
  readonly whenInvalid?: FailureCode
  /** Reason of a submit with the id of an earlier request, if the upstream rejects it. */
  readonly submitsAgain?: "UnknownOutcome"
  /** Whether the protocol can cancel a running job. Default `true`. */
  readonly canCancel?: boolean
  /** Mode of a request with an input image. */
  readonly imageMode: Testing.ImageOptions["mode"]
  /** A valid request with this id. */
  readonly request: (id: string) => GenerationRequest
  readonly start: Effect.Effect<Running, never, Scope.Scope>
}

/** A running server of a protocol. */
interface Running {
  readonly server: Scripted
  /** The server of results. Default: `server`. */
  readonly files?: Scripted
  /** Options of the driver, without limits. */
  readonly options: Readonly<Record<string, unknown>>
  /** Jobs that the server has accepted and not ended. */
  readonly jobs: () => number
  /** Completes the only job that has not ended with `resultBytes`. */
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

/** Starts servers before the tests of a file, and returns them in tests. */
export const shared = <A>(start: Effect.Effect<A, never, Scope.Scope>): () => A => {
  const scope = Scope.makeUnsafe()
  const started: { value?: A } = {}
  beforeAll(async () => {
    started.value = await Effect.runPromise(Scope.provide(start, scope))
  })
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))
  return () => started.value ?? assert.fail("the servers are started")
}

/** Failures of submits that mean the same in every protocol. */
export const submitFaults = (
  resubmit: "safe" | "unsafe",
  whenInvalid: FailureCode,
  next: (handle: Handler) => Effect.Effect<void>
): ReadonlyArray<Testing.Fault> => [
  ...refusals.map(([what, handle, fault]): Testing.Fault => ({
    ...fault,
    when: `the upstream ${what}`,
    call: "submit",
    arrange: next(handle)
  })),
  {
    when: "the upstream rejects the request",
    call: "submit",
    reason: "Permanent",
    code: whenInvalid,
    arrange: next(responds(400))
  },
  ...breakdowns.map(([what, handle]): Testing.Fault => ({
    when: `the upstream responds with ${what}`,
    call: "submit",
    reason: resubmit === "safe" ? "Transient" : "UnknownOutcome",
    arrange: next(handle)
  }))
]

/** Tests a driver against its protocol. */
export const suite = (protocol: Protocol) =>
  describe(protocol.name, () => {
    general(protocol)
    submits(protocol)
    polls(protocol)
    cancels(protocol)
    collects(protocol)
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Registers the contract of all drivers. All its tests use one server, like processes that share an upstream. */
const general = (protocol: Protocol) => {
  const running = shared(
    Effect.tap(
      protocol.start,
      ({ finish, server }) =>
        Effect.sync(() =>
          server.after(protocol.lines.submit, ({ body }) => {
            if (!body.includes(endless)) {
              finish()
            }
          })
        )
    )
  )

  const { id: _, ...request } = protocol.request("")
  Testing.suite(protocol.name, {
    generator: Layer.unwrap(Effect.suspend(() => Effect.fromResult(protocol.driver.generator(running().options)))),
    request: { ...request, callbackUrl },
    running: { prompt: endless },
    cancels: protocol.canCancel,
    images: { mode: protocol.imageMode, file: png.bytes, mime: "image/png", width: 3, height: 2 },
    faults: faultsOf(protocol, running),
    secrets: [apiKey, request.prompt, upstreamText, callbackSecret]
  })
}

const callbackSecret = "c2VjcmV0LW9mLXRoZS1jYWxsYmFja3M"
const callbackUrl = `https://media.example.com/internal/callbacks/gen_1?exp=1&sig=${callbackSecret}`

/** Prompt of work that runs until it is cancelled. */
const endless = "an endless road"

/** Responses that mean the same in every protocol. */
const refusals = [
  ["rejects the credentials with 401", responds(401), { reason: "Permanent", code: "upstream_error" }],
  ["rejects the credentials with 403", responds(403), { reason: "Permanent", code: "upstream_error" }],
  ["has no credit left", responds(402), { reason: "Permanent", code: "upstream_error" }],
  [
    "rejects the content",
    responds(422, {}, { error: { code: "content_policy_violation", message: upstreamText } }),
    { reason: "Permanent", code: "content_rejected" }
  ],
  ["is busy", responds(429, { "retry-after": "7" }), { reason: "Transient", retryAfter: "7 seconds" }],
  ["is overloaded", responds(503, { "retry-after": "7" }), { reason: "Transient", retryAfter: "7 seconds" }]
] as const

const notJson: Handler = (_, response) => void response.writeHead(200).end("<html>")

const breakdowns = [["nothing", drops], ["500", responds(500)], ["text", notJson]] as const

const faultsOf = (protocol: Protocol, running: () => Running): ReadonlyArray<Testing.Fault> => {
  const { lines, mime, resubmit, whenGone = protocol.whenLost, whenInvalid = "invalid_input" } = protocol
  const next = (line: Line, handle: Handler) =>
    Effect.sync(() => {
      const { files, server } = running()
      const target = line === lines.result ? files ?? server : server
      target.next(line, handle)
    })
  const elsewhere = responds(302, { location: "ftp://127.0.0.1/" })
  return [
    ...submitFaults(resubmit, whenInvalid, (handle) => next(lines.submit, handle)),
    ...breakdowns.map(([what, handle]): Testing.Fault => ({
      when: `the upstream responds with ${what}`,
      call: "poll",
      reason: "Transient",
      arrange: next(lines.poll, handle)
    })),
    { when: "the upstream is busy", call: "poll", reason: "Transient", arrange: next(lines.poll, responds(429)) },
    { when: "the job no longer exists", call: "poll", reason: whenGone, arrange: next(lines.poll, responds(404)) },
    {
      when: "the result no longer exists",
      call: "collect",
      reason: "Permanent",
      arrange: next(lines.result, responds(404))
    },
    { when: "the result is elsewhere", call: "collect", reason: "Permanent", arrange: next(lines.result, elsewhere) },
    { when: "the result fails", call: "collect", reason: "Transient", arrange: next(lines.result, responds(500)) },
    {
      when: "the result ends early",
      call: "collect",
      reason: "Transient",
      arrange: next(lines.result, truncates(mime, resultBytes))
    }
  ]
}

const started = Effect.fnUntraced(
  function*({ driver, start }: Protocol, limits: Readonly<Record<string, unknown>> = {}) {
    const running = yield* start
    const build = generatorOf(driver, { ...running.options, ...limits })
    return { ...running, build, generator: yield* build }
  }
)

const submitted = Effect.fnUntraced(function*(protocol: Protocol, limits: Readonly<Record<string, unknown>> = {}) {
  const running = yield* started(protocol, limits)
  const operation = yield* running.generator.submit(protocol.request("job/1"))
  return { ...running, operation }
})

const submits = (protocol: Protocol) => {
  const { request, resubmit, submitsAgain } = protocol

  it.effect("submits one job and returns an operation of small JSON", () =>
    Effect.gen(function*() {
      const { generator, jobs, operation } = yield* submitted(protocol)
      assert.isBelow(JSON.stringify(operation).length, 1024)
      assert.strictEqual(generator.resubmit, resubmit)
      assert.strictEqual(jobs(), 1)
    }))

  if (submitsAgain === undefined) {
    it.effect(`${resubmit === "safe" ? "finds the job of" : "starts new work for"} a repeated request`, () =>
      Effect.gen(function*() {
        const { build, jobs } = yield* submitted(protocol)
        yield* Effect.flatMap(build, ({ submit }) => submit(request("job/1")))
        assert.strictEqual(jobs(), resubmit === "safe" ? 1 : 2)
      }))
  } else {
    it.effect(`fails with ${submitsAgain} for a repeated request, and starts nothing`, () =>
      Effect.gen(function*() {
        const { build, jobs } = yield* submitted(protocol)
        const again = yield* Effect.flatMap(build, ({ submit }) => reasonOf(submit(request("job/1"))))
        assert.strictEqual(again._tag, submitsAgain)
        assert.strictEqual(jobs(), 1)
      }))
  }

  for (const [what, handle] of refusals) {
    it.effect(`starts nothing if the upstream ${what}`, () =>
      Effect.gen(function*() {
        const { generator, jobs, server } = yield* started(protocol)
        server.next(protocol.lines.submit, handle)
        yield* reasonOf(generator.submit(request("job/1")))
        assert.strictEqual(jobs(), 0)
      }))
  }

  it.effect("fails with Transient if the upstream cannot be reached", () =>
    Effect.gen(function*() {
      const { driver, start } = protocol
      const running = yield* Effect.scoped(start)
      const generator = yield* generatorOf(driver, running.options)
      assert.strictEqual((yield* reasonOf(generator.submit(protocol.request("job/1"))))._tag, "Transient")
    }))
}

const polls = (protocol: Protocol) => {
  const { whenLost } = protocol

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
}

const cancels = (protocol: Protocol) => {
  it.effect(`cancels ${protocol.canCancel === false ? "nothing" : "a job"} at the upstream, from any process`, () =>
    Effect.gen(function*() {
      const { build, jobs, operation } = yield* submitted(protocol)
      yield* Effect.flatMap(build, ({ cancel }) => cancel(operation))
      assert.strictEqual(jobs(), protocol.canCancel === false ? 1 : 0)
    }))

  it.effect("cancels nothing if the job is lost", () =>
    Effect.gen(function*() {
      const { generator, operation, restart } = yield* submitted(protocol)
      restart()
      yield* generator.cancel(operation)
    }))
}

const collects = (protocol: Protocol) => {
  const { lines, mime } = protocol

  it.effect("returns the bytes of the result, with their media type", () =>
    Effect.gen(function*() {
      const { finish, generator, operation } = yield* submitted(protocol)
      finish()
      const output = yield* generator.collect(operation)
      assert.strictEqual(output.mime, mime)
      assert.deepStrictEqual(yield* read(output), resultBytes)
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
      files.next(lines.result, sendsForever(mime))
      assert.strictEqual((yield* reasonOf(Effect.flatMap(generator.collect(operation), read)))._tag, "Permanent")
    }))

  it.effect("can read a result again that stopped for longer than the limit", () =>
    Effect.gen(function*() {
      const { finish, generator, operation, server, files = server } = yield* submitted(protocol, {
        idle_timeout: "5 seconds"
      })
      finish()
      files.next(lines.result, stops(mime))
      const output = yield* generator.collect(operation)
      const passTime = Effect.forever(Effect.andThen(TestClock.adjust("5 seconds"), Effect.yieldNow))
      assert.strictEqual((yield* reasonOf(Effect.raceFirst(read(output), passTime)))._tag, "Transient")
    }))
}
