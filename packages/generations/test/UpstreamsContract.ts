/** Workers and upstreams that fail or are limited, on every backend. */
import { assert, layer } from "@effect/vitest"
import { type Generator, GeneratorError, type ScriptedGenerator, type UpstreamLimits } from "@kinora/generator"
import type { MemoryBackend } from "@kinora/persistence/UnitOfWork"
import { Scheduler } from "@kinora/scheduler"
import * as TestTime from "@kinora/testkit/TestTime"
import { Deferred, Effect, Exit, type Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import type { Generation } from "../src/Generation.ts"
import type { layerMemory } from "./Assembly.ts"
import {
  busy,
  createJobs,
  denied,
  ended,
  makeUpstream,
  start,
  startKillable,
  statesOf,
  statusesOf,
  type Upstream
} from "./Upstreams.ts"

type Services = Exclude<Layer.Success<typeof layerMemory>, MemoryBackend>

const [still, redraw] = ["kinora-still", "redraw-1"] as const
/** A model with a time limit of one minute. The clock moves in steps of a second. */
const brief = "brief-1"

const failWith = (reason: GeneratorError.Reason) => Effect.fail(new GeneratorError.GeneratorError({ reason }))

/** Limits with short times. */
const quick = { failures_max: 3, open_time: "10 seconds" }

export const circuitSuite = <E>(name: string, services: Layer.Layer<Services, E>) =>
  layer(services)(`An upstream that fails (${name})`, (it) => {
    it.effect("gets one test at a time, and its jobs wait and complete when it works again", () =>
      Effect.gen(function*() {
        const upstream = yield* makeUpstream({ limits: quick })
        upstream.outage.reason = busy
        yield* start({ upstreams: { main: upstream }, drivers: { [still]: { name: "main" } } })
        const jobs = yield* createJobs(still, 4)
        yield* TestTime.until(Effect.sync(() => upstream.outage.submits >= 3))
        yield* TestTime.pass("60 seconds")
        // Up to one call of each job that was submitted before the circuit opened, then tests after 10, 20 and 40 seconds.
        assert.isAtMost(upstream.outage.submits, 9)
        for (const status of yield* statusesOf(jobs)) assert.include(["queued", "processing"], status)
        upstream.outage.reason = undefined
        assert.deepStrictEqual((yield* ended(jobs)).map(({ status }) => status), jobs.map(() => "completed"))
        assert.strictEqual(yield* upstream.callsOf("submit"), 4)
      }).pipe(Effect.scoped))

    it.effect("leaves the worker to the jobs of other upstreams", () =>
      Effect.gen(function*() {
        const [main, other] = [yield* makeUpstream({ limits: quick }), yield* makeUpstream()]
        main.outage.reason = busy
        yield* start({
          upstreams: { main, other },
          drivers: { [redraw]: { name: "main" }, [still]: { name: "other" } },
          concurrency: 1
        })
        const stuck = yield* createJobs(redraw, 2)
        yield* TestTime.until(Effect.sync(() => main.outage.submits >= 3))
        const free = yield* createJobs(still, 3)
        assert.deepStrictEqual((yield* ended(free)).map(({ status }) => status), free.map(() => "completed"))
        for (const { failure } of yield* statesOf(stuck)) assert.isNull(failure)
      }).pipe(Effect.scoped))

    it.effect("is not called any more after rejected credentials", () =>
      Effect.gen(function*() {
        const upstream = yield* makeUpstream({ limits: quick })
        upstream.outage.reason = denied
        yield* start({ upstreams: { main: upstream }, drivers: { [still]: { name: "main" } }, concurrency: 1 })
        const jobs = yield* createJobs(still, 5)
        const codes = Effect.map(
          statesOf(jobs),
          (states) => states.flatMap(({ failure }) => failure === null ? [] : [failure.code])
        )
        yield* TestTime.until(Effect.map(codes, ({ length }) => length >= 3))
        yield* TestTime.pass("8 seconds")
        assert.strictEqual(upstream.outage.submits, 3)
        assert.deepStrictEqual(yield* codes, ["upstream_error", "upstream_error", "upstream_error"])
      }).pipe(Effect.scoped))

    it.effect("fails the jobs that wait for it at their time limit, with a refund", () =>
      Effect.gen(function*() {
        const upstream = yield* makeUpstream({ limits: quick })
        upstream.outage.reason = busy
        yield* start({ upstreams: { main: upstream }, drivers: { [still]: { name: "main" } } })
        const jobs = yield* createJobs(still, 1)
        assert.deepStrictEqual(
          (yield* ended(jobs)).map(({ failure, refunded }) => [failure?.code, refunded]),
          [["time_limit", true]]
        )
      }).pipe(Effect.scoped))

    it.effect("does not fail the jobs that it runs, which continue when it works again", () =>
      Effect.gen(function*() {
        const upstream = yield* makeUpstream({ limits: quick, script: { delay: "hold" } })
        yield* start({ upstreams: { main: upstream }, drivers: { [still]: { name: "main" } } })
        const jobs = yield* createJobs(still, 1)
        yield* TestTime.until(Effect.sync(() => upstream.outage.polls > 0))
        upstream.outage.reason = busy
        // Longer than the retries of other calls last.
        yield* TestTime.pass("90 seconds")
        assert.deepStrictEqual(yield* statusesOf(jobs), ["processing"])
        upstream.outage.reason = undefined
        yield* upstream.control.succeed(jobs[0]!.id)
        assert.deepStrictEqual((yield* ended(jobs)).map(({ status }) => status), ["completed"])
        assert.strictEqual(upstream.outage.submits, 1)
      }).pipe(Effect.scoped))

    it.effect("is not asked again for a job that it has lost while it gets no submits", () =>
      Effect.gen(function*() {
        const upstream = yield* makeUpstream({
          limits: { failures_max: 3, open_time: "30 seconds" },
          script: { delay: "hold" }
        })
        let isDown = false
        let polls = 0
        const failing: Upstream = {
          ...upstream,
          generator: {
            ...upstream.generator,
            submit: (request) => isDown ? failWith(busy) : upstream.generator.submit(request),
            poll: (operation) =>
              Effect.suspend(() => {
                polls++
                return isDown ? failWith(new GeneratorError.Lost()) : upstream.generator.poll(operation)
              })
          }
        }
        yield* start({ upstreams: { main: failing }, drivers: { [still]: { name: "main" } } })
        const jobs = yield* createJobs(still, 1)
        yield* TestTime.until(Effect.sync(() => polls > 0))
        isDown = true
        yield* TestTime.pass("20 seconds")
        const before = polls
        yield* TestTime.pass("5 seconds")
        assert.strictEqual(polls, before)
        isDown = false
        yield* upstream.control.succeed(jobs[0]!.id)
        assert.deepStrictEqual((yield* ended(jobs)).map(({ status }) => status), ["completed"])
      }).pipe(Effect.scoped))

    // The last one, since the jobs that are not submitted do not end.
    it.effect("is polled for the jobs of a killed worker, which another one completes without a second submit", () =>
      Effect.gen(function*() {
        const upstream = yield* makeUpstream({ script: { delay: "hold" } })
        const drivers = { [still]: { name: "main" } }
        const killed = yield* Scope.make()
        const { expire } = yield* Scope.provide(startKillable({ upstreams: { main: upstream }, drivers }), killed)
        const [job] = yield* createJobs(still, 1)
        yield* TestTime.until(Effect.sync(() => upstream.outage.polls > 0))
        yield* Scope.close(killed, Exit.void)

        let refusals = 0
        const refuse = Effect.suspend(() => {
          refusals++
          return failWith(busy)
        })
        const full: Upstream = {
          ...(yield* makeUpstream({ limits: { failures_max: 3, open_time: "1 hour" } })),
          generator: { ...upstream.generator, submit: () => refuse }
        }
        yield* start({ upstreams: { main: full }, drivers })
        const waiting = yield* createJobs(still, 3)
        yield* TestTime.until(Effect.sync(() => refusals === 3))
        yield* TestTime.pass("5 seconds")
        const polls = upstream.outage.polls
        yield* expire
        yield* TestTime.until(Effect.sync(() => upstream.outage.polls > polls))
        yield* upstream.control.succeed(job!.id)
        assert.deepStrictEqual((yield* ended([job!])).map(({ status }) => status), ["completed"])
        assert.deepStrictEqual([upstream.outage.submits, refusals], [1, 3])
        for (const { failure, status } of yield* statesOf(waiting)) {
          assert.deepStrictEqual([failure, status === "completed"], [null, false])
        }
      }).pipe(Effect.scoped))
  })

export const limitSuite = <E>(name: string, services: Layer.Layer<Services, E>) =>
  layer(services)(`Limits of an upstream (${name})`, (it) => {
    it.effect("restrict the jobs at the same time, and leave the other slots to other upstreams", () =>
      Effect.gen(function*() {
        const main = yield* makeUpstream({ limits: { concurrency: 2 }, script: { delay: "10 seconds" } })
        const other = yield* makeUpstream()
        yield* start({
          upstreams: { main, other },
          drivers: { [redraw]: { name: "main" }, [still]: { name: "other" } },
          concurrency: 3
        })
        const slow = yield* createJobs(redraw, 5)
        yield* TestTime.until(Effect.sync(() => main.outage.submits >= 2))
        const free = yield* createJobs(still, 3)
        yield* ended(free)
        assert.strictEqual(main.outage.submits, 2)
        assert.deepStrictEqual((yield* ended(slow)).map(({ status }) => status), slow.map(() => "completed"))
        assert.strictEqual(main.outage.submits, 5)
      }).pipe(Effect.scoped))

    it.effect("restrict the jobs of a model at the same time", () =>
      Effect.gen(function*() {
        const main = yield* makeUpstream({ script: { delay: "1 minute" } })
        yield* start({
          upstreams: { main },
          drivers: { [redraw]: { name: "main", concurrency: 1 }, [still]: { name: "main" } }
        })
        const [limited, free] = [yield* createJobs(redraw, 3), yield* createJobs(still, 3)]
        yield* TestTime.until(Effect.sync(() => main.outage.submits >= 4))
        yield* TestTime.pass("3 seconds")
        assert.strictEqual(main.outage.submits, 4)
        yield* ended([...limited, ...free])
        assert.strictEqual(main.outage.submits, 6)
      }).pipe(Effect.scoped))

    it.effect("restrict the submits within a minute", () =>
      Effect.gen(function*() {
        const main = yield* makeUpstream({ limits: { requests_per_minute: 2 } })
        yield* start({ upstreams: { main }, drivers: { [still]: { name: "main" } } })
        const jobs = yield* createJobs(still, 5)
        yield* TestTime.until(Effect.sync(() => main.outage.submits >= 2))
        yield* TestTime.pass("30 seconds")
        assert.strictEqual(main.outage.submits, 2)
        yield* TestTime.until(Effect.sync(() => main.outage.submits >= 4))
        yield* TestTime.pass("30 seconds")
        assert.strictEqual(main.outage.submits, 4)
        assert.deepStrictEqual((yield* ended(jobs)).map(({ status }) => status), jobs.map(() => "completed"))
      }).pipe(Effect.scoped))
  })

export const sharedLimitSuite = <E>(name: string, services: Layer.Layer<Services, E>) =>
  layer(services)(`Limits that worker processes share (${name})`, (it) => {
    /** Starts two workers with these drivers, which are the same upstream with the credential `shared`. */
    const startTwo = Effect.fnUntraced(
      function*(limits: typeof UpstreamLimits.UpstreamLimits.Encoded, script: ScriptedGenerator.Script = {}) {
        const [one, other] = [yield* makeUpstream({ limits, script }), yield* makeUpstream({ limits, script })]
        yield* start({ upstreams: { one }, drivers: { [still]: { name: "one" } } })
        yield* start({ upstreams: { other }, drivers: { [still]: { name: "other" } } })
        return {
          submits: Effect.sync(() => one.outage.submits + other.outage.submits),
          bySubmits: () => [one.outage.submits, other.outage.submits]
        }
      }
    )

    it.effect("restrict the jobs at the same time, and all jobs complete", () =>
      Effect.gen(function*() {
        const { submits } = yield* startTwo({ credential: "jobs", concurrency: 2 }, { delay: "10 seconds" })
        const jobs = yield* createJobs(still, 6)
        yield* TestTime.until(Effect.map(submits, (count) => count >= 2))
        yield* TestTime.pass("5 seconds")
        assert.strictEqual(yield* submits, 2)
        assert.deepStrictEqual((yield* ended(jobs)).map(({ status }) => status), jobs.map(() => "completed"))
        assert.strictEqual(yield* submits, 6)
      }).pipe(Effect.scoped))

    it.effect("restrict the submits within a minute", () =>
      Effect.gen(function*() {
        const { submits } = yield* startTwo({ credential: "submits", requests_per_minute: 2 })
        const jobs = yield* createJobs(still, 3)
        yield* TestTime.until(Effect.map(submits, (count) => count >= 2))
        yield* TestTime.pass("30 seconds")
        assert.strictEqual(yield* submits, 2)
        assert.deepStrictEqual((yield* ended(jobs)).map(({ status }) => status), jobs.map(() => "completed"))
      }).pipe(Effect.scoped))

    it.effect("include a job whose worker stops, and never stop it", () =>
      Effect.gen(function*() {
        const main = yield* makeUpstream({
          limits: { credential: "handed", concurrency: 1 },
          script: { delay: "hold" }
        })
        const options = { upstreams: { main }, drivers: { [still]: { name: "main" } } }
        const before = yield* Scope.make()
        yield* Scope.provide(start(options), before)
        const jobs = yield* createJobs(still, 2)
        yield* TestTime.until(Effect.sync(() => main.outage.polls > 0))
        yield* Scope.close(before, Exit.void)
        const polls = main.outage.polls
        yield* start(options)
        yield* TestTime.until(Effect.sync(() => main.outage.polls > polls))
        // Longer than the place of the first worker is kept.
        yield* TestTime.pass("40 seconds")
        assert.strictEqual(main.outage.submits, 1)
        yield* main.control.succeed(jobs[0]!.id)
        yield* TestTime.until(Effect.sync(() => main.outage.submits === 2))
        yield* main.control.succeed(jobs[1]!.id)
        assert.deepStrictEqual((yield* ended(jobs)).map(({ status }) => status), ["completed", "completed"])
      }).pipe(Effect.scoped))

    // The last one, since its jobs do not end.
    it.effect("apply to each worker if each has an upstream of its own", () =>
      Effect.gen(function*() {
        const limits = { credential: "own", concurrency: 1, per_worker: true }
        const { bySubmits, submits } = yield* startTwo(limits, { delay: "hold" })
        yield* createJobs(still, 4)
        yield* TestTime.until(Effect.map(submits, (count) => count >= 2))
        yield* TestTime.pass("10 seconds")
        assert.deepStrictEqual(bySubmits(), [1, 1])
      }).pipe(Effect.scoped))
  })

const failed = new GeneratorError.Permanent({ code: "generation_failed", reason: "provider", message: "It failed." })

const rejected = new GeneratorError.Permanent({ code: "content_rejected", reason: "safety", message: "It is unsafe." })

export const fallbackSuite = <E>(name: string, services: Layer.Layer<Services, E>) =>
  layer(services)(`A model with a fallback (${name})`, (it) => {
    /** Starts a worker with both upstreams. */
    const startBoth = (first: Upstream, second: Upstream) =>
      start({
        upstreams: { first, second },
        drivers: { [still]: { name: "first", fallbacks: [{ name: "second" }] } }
      })

    it.effect("is run by the fallback while the first upstream fails, and by the first one afterwards", () =>
      Effect.gen(function*() {
        const [first, second] = [yield* makeUpstream({ limits: quick }), yield* makeUpstream()]
        first.outage.reason = busy
        yield* startBoth(first, second)
        const jobs = yield* createJobs(still, 6)
        assert.deepStrictEqual((yield* ended(jobs)).map(({ status }) => status), jobs.map(() => "completed"))
        assert.strictEqual(yield* second.callsOf("submit"), 6)
        assert.strictEqual(yield* first.callsOf("submit"), 0)
        first.outage.reason = undefined
        yield* TestTime.pass("60 seconds")
        const later = yield* createJobs(still, 2)
        yield* ended(later)
        assert.strictEqual(yield* first.callsOf("submit"), 2)
      }).pipe(Effect.scoped))

    it.effect("gets the jobs that the first upstream refuses, or reports as failed", () =>
      Effect.gen(function*() {
        const [first, second] = [yield* makeUpstream(), yield* makeUpstream()]
        yield* startBoth(first, second)
        first.outage.reason = denied
        const refused = yield* createJobs(still, 1)
        assert.deepStrictEqual((yield* ended(refused)).map(({ status }) => status), ["completed"])
        first.outage.reason = undefined
        const [job] = yield* createJobs(still, 1)
        yield* first.control.fail(job!.id, failed)
        assert.deepStrictEqual((yield* ended([job!])).map(({ status }) => status), ["completed"])
        assert.strictEqual(yield* second.callsOf("submit"), 2)
      }).pipe(Effect.scoped))

    it.effect("does not get a job whose content the first upstream rejects", () =>
      Effect.gen(function*() {
        const [first, second] = [yield* makeUpstream({ script: { outcome: rejected } }), yield* makeUpstream()]
        yield* startBoth(first, second)
        const whilePolled = yield* createJobs(still, 1)
        assert.deepStrictEqual((yield* ended(whilePolled)).map(({ failure }) => failure?.code), ["content_rejected"])
        first.outage.reason = rejected
        const whileSubmitted = yield* createJobs(still, 1)
        assert.deepStrictEqual((yield* ended(whileSubmitted)).map(({ failure }) => failure?.code), ["content_rejected"])
        assert.strictEqual(second.outage.submits, 0)
      }).pipe(Effect.scoped))

    it.effect("does not get a job that the first upstream may have", () =>
      Effect.gen(function*() {
        const [first, second] = [yield* makeUpstream({ resubmit: "unsafe" }), yield* makeUpstream()]
        yield* startBoth(first, second)
        first.outage.reason = new GeneratorError.UnknownOutcome()
        const jobs = yield* createJobs(still, 1)
        assert.deepStrictEqual(
          (yield* ended(jobs)).map(({ failure, refunded }) => [failure?.code, refunded]),
          [["upstream_error", true]]
        )
        assert.strictEqual(second.outage.submits, 0)
      }).pipe(Effect.scoped))

    it.effect("fails its jobs if both upstreams fail them", () =>
      Effect.gen(function*() {
        const upstreams = [yield* makeUpstream(), yield* makeUpstream()] as const
        for (const { outage } of upstreams) outage.reason = denied
        yield* startBoth(...upstreams)
        const jobs = yield* createJobs(still, 1)
        assert.deepStrictEqual((yield* ended(jobs)).map(({ failure }) => failure?.code), ["upstream_error"])
        assert.deepStrictEqual(upstreams.map(({ outage }) => outage.submits), [1, 1])
      }).pipe(Effect.scoped))

    it.effect("continues a job where it is, also after the configuration has changed", () =>
      Effect.gen(function*() {
        const [first, second] = [
          yield* makeUpstream({ limits: quick }),
          yield* makeUpstream({ script: { delay: "hold" } })
        ]
        first.outage.reason = busy
        const before = yield* Scope.make()
        yield* Scope.provide(startBoth(first, second), before)
        const jobs = yield* createJobs(still, 1)
        yield* TestTime.until(Effect.sync(() => second.outage.polls > 0))
        yield* Scope.close(before, Exit.void)
        first.outage.reason = undefined
        const [submits, polls] = [first.outage.submits, second.outage.polls]
        yield* start({ upstreams: { first, second }, drivers: { [still]: { name: "first" } } })
        yield* TestTime.until(Effect.sync(() => second.outage.polls > polls))
        yield* second.control.succeed(jobs[0]!.id)
        assert.deepStrictEqual((yield* ended(jobs)).map(({ status }) => status), ["completed"])
        assert.deepStrictEqual([first.outage.submits, second.outage.submits], [submits, 1])
        assert.strictEqual(yield* first.callsOf("collect"), 0)
      }).pipe(Effect.scoped))

    it.effect("continues a job with the credential that took it, under another name, and fails it without one", () =>
      Effect.gen(function*() {
        const script = { delay: "hold" } as const
        const first = yield* makeUpstream({ script, limits: { credential: "first-account" } })
        const second = yield* makeUpstream({ limits: { credential: "second-account" } })
        /** Runs a worker in which these upstreams have these names, until the next one. */
        const startAs = Effect.fnUntraced(function*(upstreams: Readonly<Record<string, Upstream>>) {
          const scope = yield* Scope.make()
          yield* Scope.provide(start({ upstreams, drivers: { [still]: { name: "main" } } }), scope)
          return Scope.close(scope, Exit.void)
        })
        const stopFirst = yield* startAs({ main: first })
        const [kept, lost] = yield* createJobs(still, 2)
        yield* TestTime.until(Effect.map(first.callsOf("submit"), (submits) => submits === 2))
        // Until both operations are stored.
        yield* TestTime.pass("3 seconds")
        yield* stopFirst
        // The name means another account. The former one stays configured for its jobs.
        const stopBoth = yield* startAs({ main: second, former: first })
        yield* first.control.succeed(kept!.id)
        assert.deepStrictEqual((yield* ended([kept!])).map(({ status }) => status), ["completed"])
        yield* stopBoth
        const stopLast = yield* startAs({ main: second })
        assert.deepStrictEqual(
          (yield* ended([lost!])).map(({ failure, refunded }) => [failure?.code, refunded]),
          [["upstream_error", true]]
        )
        assert.deepStrictEqual([second.outage.submits, second.outage.polls], [0, 0])
        yield* stopLast
      }).pipe(Effect.scoped))

    it.effect("fails a job with a refund if the driver that runs it was removed", () =>
      Effect.gen(function*() {
        const [first, second] = [yield* makeUpstream({ script: { delay: "hold" } }), yield* makeUpstream()]
        const before = yield* Scope.make()
        yield* Scope.provide(startBoth(first, second), before)
        const jobs = yield* createJobs(still, 1)
        yield* TestTime.until(Effect.sync(() => first.outage.polls > 0))
        yield* Scope.close(before, Exit.void)
        yield* start({ upstreams: { second }, drivers: { [still]: { name: "second" } } })
        assert.deepStrictEqual(
          (yield* ended(jobs)).map(({ failure, refunded }) => [failure?.code, refunded]),
          [["upstream_error", true]]
        )
        assert.strictEqual(second.outage.submits, 0)
      }).pipe(Effect.scoped))
  })

/** Makes an upstream that gives every job the same operation, and records which calls it gets for it. */
const makeRepeating = Effect.fnUntraced(function*(limits: typeof UpstreamLimits.UpstreamLimits.Encoded) {
  const upstream = yield* makeUpstream({ limits, resubmit: "unsafe", script: { delay: "hold" } })
  const submitted: Array<string> = []
  const calls: Array<string> = []
  const recorded = <A>(method: "poll" | "cancel" | "collect", call: (operation: Generator.Operation) => A) => (): A => {
    calls.push(method)
    return call(own)
  }
  let own: Generator.Operation = null
  const repeating: Upstream = {
    ...upstream,
    generator: {
      ...upstream.generator,
      submit: (request) =>
        Effect.map(upstream.generator.submit(request), (operation) => {
          if (submitted.push(request.id) === 1) own = operation
          return "p1"
        }),
      poll: recorded("poll", upstream.generator.poll),
      cancel: recorded("cancel", upstream.generator.cancel),
      collect: recorded("collect", upstream.generator.collect)
    }
  }
  return { ...repeating, submitted, calls }
})

const outcomesOf = (jobs: ReadonlyArray<Generation>) =>
  Effect.map(ended(jobs), (states) => states.map(({ failure, refunded, status }) => [status, failure?.code, refunded]))

type Outcome = Effect.Success<ReturnType<typeof outcomesOf>>[number]
const completed: Outcome = ["completed", undefined, false]
const reused: Outcome = ["failed", "upstream_error", true]

export const reuseSuite = <E>(name: string, services: Layer.Layer<Services, E>) =>
  layer(services)(`An upstream that returns an operation twice (${name})`, (it) => {
    for (const isRunning of [true, false]) {
      const when = isRunning ? "runs" : "has ended"
      it.effect(`fails and refunds the second job, in another worker too, while the first ${when}`, () =>
        Effect.gen(function*() {
          const limits = { credential: isRunning ? "running" : "ended" }
          const [main, again, other] = [
            yield* makeRepeating(limits),
            yield* makeRepeating(limits),
            yield* makeUpstream()
          ]
          const drivers = { [still]: { name: "main" } }
          const before = yield* Scope.make()
          yield* Scope.provide(start({ upstreams: { main }, drivers }), before)
          const first = yield* createJobs(still, 1)
          yield* TestTime.until(Effect.sync(() => main.calls.includes("poll")))
          const finish = Effect.suspend(() => main.control.succeed(main.submitted[0]!))
          if (!isRunning) {
            yield* finish
            assert.deepStrictEqual(yield* outcomesOf(first), [completed])
          }
          yield* start({
            upstreams: { main: again, other },
            drivers: { [redraw]: { name: "main", fallbacks: [{ name: "other" }] } }
          })
          const [second] = yield* createJobs(redraw, 1)
          assert.deepStrictEqual(yield* outcomesOf([second!]), [reused])
          assert.include((yield* statesOf([second!]))[0]?.failure?.message, "the job of another request")
          assert.deepStrictEqual(again.calls, [])
          assert.strictEqual(other.outage.submits, 0)
          yield* finish
          assert.deepStrictEqual(yield* outcomesOf(first), [completed])
          yield* Scope.close(before, Exit.void)
        }).pipe(Effect.scoped))
    }

    it.effect("runs one of many jobs that it gives the operation at the same time", () =>
      Effect.gen(function*() {
        const main = yield* makeRepeating({ credential: "many" })
        yield* start({ upstreams: { main }, drivers: { [still]: { name: "main" } } })
        const jobs = yield* createJobs(still, 8)
        yield* TestTime.until(Effect.sync(() => main.submitted.length === 8 && main.calls.includes("poll")))
        yield* main.control.succeed(main.submitted[0]!)
        assert.sameDeepMembers(yield* outcomesOf(jobs), [completed, ...Array.from({ length: 7 }, () => reused)])
      }).pipe(Effect.scoped))

    it.effect("runs a job whose operation was not stored, when its next worker submits it again", () =>
      Effect.gen(function*() {
        const main = yield* makeUpstream({ script: { delay: "hold" }, limits: { credential: "again" } })
        const scheduler = yield* Scheduler.Scheduler
        const options = { upstreams: { main }, drivers: { [still]: { name: "main" } } }
        const before = yield* Scope.make()
        const reached = yield* Deferred.make<void>()
        const killed = yield* Scope.provide(
          Effect.provideService(startKillable(options), Scheduler.Scheduler, {
            ...scheduler,
            checkpoint: () => Effect.andThen(Deferred.succeed(reached, undefined), Effect.never)
          }),
          before
        )
        const jobs = yield* createJobs(still, 1)
        yield* Deferred.await(reached)
        yield* Scope.close(before, Exit.void)
        yield* killed.expire
        yield* start(options)
        yield* TestTime.until(Effect.map(main.callsOf("submit"), (submits) => submits === 2))
        yield* main.control.succeed(jobs[0]!.id)
        assert.deepStrictEqual(yield* outcomesOf(jobs), [completed])
      }).pipe(Effect.scoped))

    it.effect("can do so for another account, and after the result of the first job has expired", () =>
      Effect.gen(function*() {
        const runs = (upstream: Effect.Success<ReturnType<typeof makeRepeating>>) =>
          Effect.gen(function*() {
            yield* start({
              upstreams: { main: upstream },
              drivers: { [still]: { name: "main" } },
              resultTtl: "2 hours"
            })
            const jobs = yield* createJobs(still, 1)
            yield* TestTime.until(Effect.sync(() => upstream.submitted.length === 1))
            yield* upstream.control.succeed(jobs[0]!.id)
            return (yield* outcomesOf(jobs))[0]
          }).pipe(Effect.scoped)
        const limits = { credential: "first" }
        assert.deepStrictEqual(yield* runs(yield* makeRepeating(limits)), completed)
        assert.deepStrictEqual(yield* runs(yield* makeRepeating({ credential: "second" })), completed)
        assert.deepStrictEqual(yield* runs(yield* makeRepeating(limits)), reused)
        yield* TestClock.adjust("2 hours")
        assert.deepStrictEqual(yield* runs(yield* makeRepeating(limits)), reused)
        // The time limit of the model, within which the first job had to have its result.
        yield* TestClock.adjust("5 minutes")
        assert.deepStrictEqual(yield* runs(yield* makeRepeating(limits)), completed)
      }).pipe(Effect.scoped))
  })

export const deadlineSuite = <E>(name: string, services: Layer.Layer<Services, E>) =>
  layer(services)(`A job at its time limit (${name})`, (it) => {
    it.effect("is cancelled at an upstream that does not respond to polls", () =>
      Effect.gen(function*() {
        const upstream = yield* makeUpstream({ limits: quick, script: { delay: "hold" } })
        yield* start({ upstreams: { main: upstream }, drivers: { [brief]: { name: "main" } } })
        const jobs = yield* createJobs(brief, 1)
        yield* TestTime.until(Effect.sync(() => upstream.outage.polls > 0))
        upstream.outage.reason = busy
        assert.deepStrictEqual((yield* ended(jobs)).map(({ failure }) => failure?.code), ["time_limit"])
        assert.isAtLeast(yield* upstream.callsOf("cancel"), 1)
      }).pipe(Effect.scoped))

    it.effect("is cancelled by a worker that does not run its model", () =>
      Effect.gen(function*() {
        const main = yield* makeUpstream({ script: { delay: "hold" } })
        const drivers = { [brief]: { name: "main" }, [redraw]: { name: "main" } }
        const before = yield* Scope.make()
        yield* Scope.provide(start({ upstreams: { main }, drivers }), before)
        const jobs = yield* createJobs(brief, 1)
        yield* TestTime.until(Effect.sync(() => main.outage.polls > 0))
        yield* Scope.close(before, Exit.void)
        yield* start({ upstreams: { main }, drivers, models: [redraw] })
        assert.deepStrictEqual((yield* ended(jobs)).map(({ failure }) => failure?.code), ["time_limit"])
        assert.strictEqual(yield* main.callsOf("cancel"), 1)
      }).pipe(Effect.scoped))
  })
