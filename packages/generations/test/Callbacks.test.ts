/** Callbacks of upstreams, and how often an upstream that calls back is polled. In memory, on the clock of the test. */
import { assert, describe, it } from "@effect/vitest"
import type { GenerationRequest, Generator } from "@kinora/generator"
import { UrlSigner } from "@kinora/storage"
import * as TestTime from "@kinora/testkit/TestTime"
import { Clock, DateTime, Deferred, Duration, Effect, Exit, Redacted, Scope } from "effect"
import { TestClock } from "effect/testing"
import * as Callbacks from "../src/Callbacks.ts"
import type { Generation } from "../src/Generation.ts"
import { layerMemory } from "./Assembly.ts"
import { createJobs, ended, makeUpstream, start, statusesOf, type UpstreamOptions } from "./Upstreams.ts"

const still = "kinora-still"

const signer = UrlSigner.make({ keys: [Redacted.make("at least 32 bytes that only the service has")] })
const origin = "https://media.example.com"

/** Each test has its own, so that no worker continues the jobs of another test. */
const services = layerMemory

/** A worker whose upstreams get URLs. */
const withUrls = {
  drivers: { [still]: { name: "main" } },
  callbackUrlOf: (id, expiresAt) => UrlSigner.urlOf(signer, origin, Callbacks.pathOf(id), expiresAt)
} satisfies Partial<Parameters<typeof start>[0]>

/** An upstream that calls back and needs an hour for each job unless the test decides it. Polled every second. */
const makeCalling = Effect.fnUntraced(function*(options: UpstreamOptions = {}) {
  const upstream = yield* makeUpstream({ script: { delay: "1 hour" }, ...options })
  const requests: Array<GenerationRequest.GenerationRequest> = []
  const polledAt: Array<number> = []
  return {
    ...upstream,
    requests,
    /** Times of the polls, in milliseconds. */
    polledAt,
    generator: {
      ...upstream.generator,
      callsBack: true,
      poll: (operation: Generator.Operation) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) => {
          polledAt.push(now)
          return upstream.generator.poll(operation)
        }),
      submit: (request: GenerationRequest.GenerationRequest) => {
        requests.push(request)
        return upstream.generator.submit(request)
      }
    }
  }
})

/** Waits, without moving the clock, until the job has ended. */
const endsNow = Effect.fnUntraced(function*(job: Generation) {
  while ((yield* statusesOf([job]))[0] === "processing") yield* Effect.yieldNow
  return yield* statusesOf([job])
})

describe("An upstream that calls back", () => {
  it.effect("completes a job when it calls, without a further wait", () =>
    Effect.gen(function*() {
      const main = yield* makeCalling()
      yield* start({ upstreams: { main }, ...withUrls })
      const [job] = yield* createJobs(still, 1)
      yield* TestTime.until(Effect.sync(() => main.outage.polls >= 4))
      yield* TestTime.pass("1 second")
      yield* main.control.succeed(job!.id)
      const polls = main.outage.polls
      yield* Callbacks.Callbacks.use(({ publish }) => publish([job!.id]))
      assert.deepStrictEqual(yield* endsNow(job!), ["completed"])
      assert.strictEqual(main.outage.polls, polls + 1)
    }).pipe(Effect.scoped, Effect.provide(services)))

  it.effect("is polled after twice the time of the last poll, at most every `callback_poll_max`", () =>
    Effect.gen(function*() {
      const main = yield* makeCalling({ limits: { callback_poll_max: "20 seconds" } })
      yield* start({ upstreams: { main }, ...withUrls })
      yield* createJobs(still, 1)
      yield* TestTime.until(Effect.sync(() => main.outage.polls > 0))
      const times: Array<number> = []
      for (let seconds = 1, seen = main.outage.polls; times.length < 7; seconds++) {
        yield* TestTime.pass("1 second")
        if (main.outage.polls > seen) times.push(seconds)
        seen = main.outage.polls
      }
      const pauses = times.slice(1).map((time, index) => time - times[index]!)
      assert.deepStrictEqual(pauses, [2, 4, 8, 16, 20, 20])
    }).pipe(Effect.scoped, Effect.provide(services)))

  it.effect("is polled in time if it does not call", () =>
    Effect.gen(function*() {
      const main = yield* makeCalling({ script: { delay: "40 seconds" } })
      yield* start({ upstreams: { main }, ...withUrls })
      const jobs = yield* createJobs(still, 1)
      assert.deepStrictEqual((yield* ended(jobs)).map(({ status }) => status), ["completed"])
    }).pipe(Effect.scoped, Effect.provide(services)))

  it.effect("causes at most two polls per interval of the driver by calling repeatedly", () =>
    Effect.gen(function*() {
      const main = yield* makeCalling()
      yield* start({ upstreams: { main }, ...withUrls })
      const [job] = yield* createJobs(still, 1)
      yield* TestTime.until(Effect.sync(() => main.outage.polls > 0))
      const polls = main.outage.polls
      const { publish } = yield* Callbacks.Callbacks
      for (let tenths = 0; tenths < 300; tenths++) {
        yield* publish([job!.id])
        yield* TestClock.adjust("100 millis")
      }
      // One when it calls, and one a second later, in turns.
      assert.isAtMost(main.outage.polls - polls, 60)
      assert.deepStrictEqual(yield* statusesOf([job!]), ["processing"])
    }).pipe(Effect.scoped, Effect.provide(services)))

  it.effect("is polled again at the interval of its driver if it calls before its API reports the end", () =>
    Effect.gen(function*() {
      const main = yield* makeCalling()
      yield* start({ upstreams: { main }, ...withUrls })
      const [job] = yield* createJobs(still, 1)
      // The next poll is minutes later.
      yield* TestTime.until(Effect.sync(() => main.outage.polls >= 7))
      const polls = main.outage.polls
      yield* Callbacks.Callbacks.use(({ publish }) => publish([job!.id]))
      yield* TestTime.until(Effect.sync(() => main.outage.polls > polls))
      yield* main.control.succeed(job!.id)
      yield* TestTime.pass("1 second")
      assert.deepStrictEqual(yield* endsNow(job!), ["completed"])
    }).pipe(Effect.scoped, Effect.provide(services)))

  it.effect("can call before the submit has returned", () =>
    Effect.gen(function*() {
      const main = yield* makeCalling()
      const { publish } = yield* Callbacks.Callbacks
      const called = yield* Deferred.make<void>()
      const submit = (request: GenerationRequest.GenerationRequest) =>
        Effect.tap(main.generator.submit(request), () =>
          Effect.gen(function*() {
            const { exp, sig } = Object.fromEntries(new URL(request.callbackUrl!).searchParams)
            const id = (yield* createdIds)[0]!
            assert.strictEqual(
              signer.verify(Callbacks.pathOf(id), { exp: exp!, sig: sig! }, yield* DateTime.now),
              "Valid"
            )
            yield* publish([id])
            yield* Deferred.succeed(called, undefined)
          }))
      const createdIds = Effect.map(Effect.sync(() => main.requests), (requests) =>
        requests.map(({ id }) => id as Generation["id"]))
      yield* start({ upstreams: { main: { ...main, generator: { ...main.generator, submit } } }, ...withUrls })
      const [job] = yield* createJobs(still, 1)
      yield* main.control.succeed(job!.id)
      yield* TestTime.until(Deferred.isDone(called))
      assert.deepStrictEqual(yield* endsNow(job!), ["completed"])
      assert.strictEqual(main.outage.polls, 1)
    }).pipe(Effect.scoped, Effect.provide(services)))

  it.effect("gets a URL that is valid until the time limit of the job, and is the same for its next worker", () =>
    Effect.gen(function*() {
      const main = yield* makeCalling()
      const before = yield* Scope.make()
      yield* Scope.provide(start({ upstreams: { main }, ...withUrls }), before)
      const [job] = yield* createJobs(still, 1)
      yield* TestTime.until(Effect.sync(() => main.outage.polls > 0))
      const url = new URL(main.requests[0]!.callbackUrl!)
      assert.strictEqual(url.origin + url.pathname, `${origin}/internal/callbacks/${job!.id}`)
      const pair = { exp: url.searchParams.get("exp")!, sig: url.searchParams.get("sig")! }
      const startedAt = (yield* DateTime.now).epochMilliseconds
      assert.closeTo(Number(pair.exp) * 1000 - startedAt, Duration.toMillis("5 minutes"), 5_000)
      const after = (minutes: number) => Effect.map(DateTime.now, (now) => DateTime.add(now, { minutes }))
      assert.strictEqual(signer.verify(Callbacks.pathOf(job!.id), pair, yield* after(4)), "Valid")
      assert.strictEqual(signer.verify(Callbacks.pathOf(job!.id), pair, yield* after(6)), "Expired")

      // The next worker continues with the operation, and its polls become rare, too.
      yield* Scope.close(before, Exit.void)
      yield* start({ upstreams: { main }, ...withUrls })
      const polls = main.outage.polls
      yield* TestTime.pass("60 seconds")
      assert.isAtMost(main.outage.polls - polls, 8)
      assert.lengthOf(main.requests, 1)
    }).pipe(Effect.scoped, Effect.provide(services)))
})

describe("An upstream without callbacks", () => {
  it.effect("gets no URL and is polled at the interval of its driver, up to a tenth later if it spaces its polls", () =>
    Effect.gen(function*() {
      const calling = yield* makeCalling()
      const silent = { ...calling, generator: { ...calling.generator, callsBack: false, spacesPolls: true } }
      yield* start({ upstreams: { main: silent }, ...withUrls })
      const [job] = yield* createJobs(still, 1)
      yield* TestTime.until(Effect.sync(() => silent.outage.polls > 0))
      assert.isUndefined(silent.requests[0]?.callbackUrl)
      yield* Effect.forEach(
        Array.from({ length: 5 }),
        () => Callbacks.Callbacks.use(({ publish }) => publish([job!.id]))
      )
      yield* TestTime.pass("20 seconds")
      const pauses = pausesOf(silent)
      for (const pause of pauses) assert.isTrue(pause >= 1_000 && pause <= 1_100, `${pause}`)
      assert.isAbove(new Set(pauses).size, 1)
      assert.isAtLeast(pauses.length, 17)
    }).pipe(Effect.scoped, Effect.provide(services)))

  it.effect("is what every upstream is if the worker makes no URLs", () =>
    Effect.gen(function*() {
      const main = yield* makeCalling()
      yield* start({ upstreams: { main }, drivers: withUrls.drivers })
      yield* createJobs(still, 1)
      yield* TestTime.until(Effect.sync(() => main.outage.polls > 0))
      const polls = main.outage.polls
      yield* TestTime.pass("30 seconds")
      assert.strictEqual(main.outage.polls - polls, 30)
      assert.isUndefined(main.requests[0]?.callbackUrl)
    }).pipe(Effect.scoped, Effect.provide(services)))
})

/** Times between the polls of a job, in milliseconds. */
const pausesOf = ({ polledAt }: Effect.Success<ReturnType<typeof makeCalling>>) =>
  polledAt.slice(1).map((at, index) => at - polledAt[index]!)
