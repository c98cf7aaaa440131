/** Webhook events of generations, published in the unit of work that changes them. */
import { assert, layer } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence"
import type { MemoryBackend } from "@kinora/persistence/UnitOfWork"
import { Scheduler } from "@kinora/scheduler"
import { WebhookStore } from "@kinora/webhooks"
import { Webhooks } from "@kinora/webhooks/Webhooks"
import * as WebhooksService from "@kinora/webhooks/Webhooks"
import { Effect, Exit, type Layer, Random, Result } from "effect"
import { TestClock } from "effect/testing"
import { GenerationId, type Output } from "../src/Generation.ts"
import * as GenerationEvent from "../src/GenerationEvent.ts"
import { Generations } from "../src/Generations.ts"
import { GenerationStore } from "../src/GenerationStore.ts"
import { GenerationSweep } from "../src/GenerationSweep.ts"
import * as GenerationWorker from "../src/GenerationWorker.ts"
import { AlreadyEnded, type EndCommand, makeEndAll } from "../src/internal/end/endAll.ts"
import { type layerMemory, listen, openAccount, request } from "./Assembly.ts"

type Services = Exclude<Layer.Success<typeof layerMemory>, MemoryBackend>

const ttl = "30 seconds"
const failure = { code: "content_rejected", message: "The model refused the prompt.", reason: "safety" } as const
const output: Output = {
  content: { key: "generations/1/1/content", mime: "image/png", bytes: 4, sha256: "00" },
  preview: null,
  thumb: null,
  poster: null
}

/** Opens an account with an endpoint and creates a job. */
const openJob = Effect.fnUntraced(function*() {
  const { create, get } = yield* Generations
  const account = yield* openAccount({ credits: 100 })
  const published = yield* listen(account.id)
  const { generation: subject } = yield* create(yield* request(account))
  return { account, published, subject, now: get(account.id, subject.id) }
})

const takeLease = Effect.gen(function*() {
  const scheduler = yield* Scheduler.Scheduler
  const id = `worker-${yield* Random.nextInt}`
  return yield* scheduler.takeLease({ id, worker: "test", kinds: [], slots: 1, ttl })
})

/** Returns an effect that claims jobs as a worker does. */
const makeClaim = Effect.gen(function*() {
  const { atomically } = yield* UnitOfWork.UnitOfWork
  const scheduler = yield* Scheduler.Scheduler
  const { claimed, claims } = yield* GenerationWorker.makeHandler({})
  return Effect.flatMap(
    takeLease,
    (lease) =>
      atomically(
        Effect.tap(scheduler.claim({ worker: "test", kinds: claims, limit: 100, lease }), (jobs) =>
          claimed!(jobs, "test"))
      )
  )
})

/** Commands of a worker to end a job that it holds under a lease. */
const complete = (rest: Pick<Extract<EndCommand, { lease: unknown }>, "subject" | "lease">): EndCommand => ({
  _tag: "Complete",
  ...rest,
  output,
  resultTtl: "1 hour"
})
const fail = (rest: Pick<Extract<EndCommand, { lease: unknown }>, "subject" | "lease">): EndCommand => ({
  _tag: "Fail",
  ...rest,
  failure
})

export const suite = <E>(name: string, services: Layer.Layer<Services, E>) => {
  layer(services)(`Events of generations (${name})`, (it) => {
    it.effect("publishes one started event, also if another worker takes the job over", () =>
      Effect.gen(function*() {
        const { now, published } = yield* openJob()
        const scheduler = yield* Scheduler.Scheduler
        const claim = yield* makeClaim
        assert.deepStrictEqual(yield* published, [])
        assert.strictEqual((yield* claim).length, 1)
        const generation = yield* now
        assert.strictEqual(generation.status, "processing")
        const { account } = generation
        assert.deepStrictEqual(yield* published, [{ account, type: "generation.started", generation }])

        yield* TestClock.adjust(ttl)
        yield* scheduler.rescue({ worker: "test", kinds: ["generation"], limit: 100, lease: yield* takeLease })
        assert.deepStrictEqual((yield* claim).map(({ attempt }) => attempt), [2])
        assert.deepStrictEqual(yield* published, [])
      }))

    for (const [type, command] of [["generation.completed", complete], ["generation.failed", fail]] as const) {
      it.effect(`publishes one ${type} event with the ended job, and none if the unit rolls back`, () =>
        Effect.gen(function*() {
          const { now, subject, published } = yield* openJob()
          const { atomically } = yield* UnitOfWork.UnitOfWork
          const endAll = yield* makeEndAll
          const [job] = yield* Effect.flatten(makeClaim)
          yield* published
          yield* TestClock.adjust("3 seconds")
          const end = endAll([command({ subject, lease: job! })])

          assert.isTrue(Exit.isFailure(yield* Effect.exit(atomically(Effect.andThen(end, Effect.die("crash"))))))
          assert.deepStrictEqual([(yield* now).status, yield* published], ["processing", []])

          assert.deepStrictEqual(yield* end, [Result.succeed(subject.id)])
          const generation = yield* now
          assert.deepStrictEqual(yield* published, [{ account: subject.account, type, generation }])
          assert.deepStrictEqual([generation.output, generation.refunded], [
            type === "generation.completed" ? output : null,
            type === "generation.failed"
          ])

          // Too late: the job has ended.
          assert.deepStrictEqual(yield* end, [Result.fail(new AlreadyEnded())])
          assert.deepStrictEqual(yield* published, [])
        }))
    }

    it.effect("publishes events if the process dies right after the commit", () =>
      Effect.gen(function*() {
        const { subject, published } = yield* openJob()
        const unit = yield* UnitOfWork.UnitOfWork
        const inDying = Effect.provideService(UnitOfWork.UnitOfWork, { ...unit, afterCommit: () => Effect.void })
        const claim = yield* inDying(makeClaim)
        const endAll = yield* inDying(makeEndAll)
        const [job] = yield* claim
        yield* TestClock.adjust("1 second")
        allEnded(yield* endAll([complete({ subject, lease: job! })]))
        const types = (yield* published).map(({ type }) => type)
        assert.deepStrictEqual(types, ["generation.started", "generation.completed"])
      }))

    it.effect("publishes no started event if the claim rolls back", () =>
      Effect.gen(function*() {
        const { now, published } = yield* openJob()
        const { atomically } = yield* UnitOfWork.UnitOfWork
        const claim = yield* makeClaim
        yield* Effect.exit(atomically(Effect.andThen(claim, Effect.fail("undone"))))
        assert.deepStrictEqual([(yield* now).status, yield* published], ["queued", []])
        yield* claim
        assert.strictEqual((yield* published).length, 1)
      }))

    it.effect("publishes a failed event for a job that waited too long", () =>
      Effect.gen(function*() {
        const { account, now, subject, published } = yield* openJob()
        const { dropStale } = yield* GenerationSweep
        yield* TestClock.adjust("25 hours")
        while ((yield* dropStale(1_000)) > 0) { /* Also those that other tests left. */ }
        const generation = yield* now
        assert.strictEqual(generation.failure?.code, "queue_timeout")
        assert.deepStrictEqual(yield* published, [{ account: account.id, type: "generation.failed", generation }])
        assert.strictEqual(generation.id, subject.id)
      }))

    it.effect("publishes no event for a cancellation", () =>
      Effect.gen(function*() {
        const { account, subject, published } = yield* openJob()
        const { cancel } = yield* Generations
        assert.strictEqual((yield* cancel(account.id, subject.id)).status, "cancelled")
        yield* cancel(account.id, subject.id)
        assert.deepStrictEqual(yield* published, [])
      }))

    it.effect("publishes events to each job's account if one unit ends jobs of several accounts", () =>
      Effect.gen(function*() {
        const [first, second] = [yield* openJob(), yield* openJob()]
        const endAll = yield* makeEndAll
        const jobs = yield* Effect.flatten(makeClaim)
        yield* TestClock.adjust("1 second")
        const leaseOf = ({ subject }: typeof first) => jobs.find(({ job }) => job === GenerationId.toUuid(subject.id))!
        allEnded(
          yield* endAll([
            complete({ subject: first.subject, lease: leaseOf(first) }),
            fail({ subject: second.subject, lease: leaseOf(second) })
          ])
        )
        const typesOf = (published: typeof first.published) =>
          Effect.map(published, (all) => all.map(({ type }) => type))
        assert.deepStrictEqual(yield* typesOf(first.published), ["generation.started", "generation.completed"])
        assert.deepStrictEqual(yield* typesOf(second.published), ["generation.started", "generation.failed"])
      }))

    it.effect("reads the endpoints once per unit without subscribers, and not at all for cancellations", () =>
      Effect.gen(function*() {
        const { create } = yield* Generations
        const store = yield* WebhookStore.WebhookStore
        const calls: Array<string> = []
        const counting = WebhookStore.WebhookStore.of({
          ...store,
          findEndpoints: (accounts) => {
            calls.push("findEndpoints")
            return store.findEndpoints(accounts)
          },
          publish: (...args) => {
            calls.push("publish")
            return store.publish(...args)
          }
        })
        const webhooks = yield* Effect.provideService(WebhooksService.make({}), WebhookStore.WebhookStore, counting)
        const inCounting = Effect.provideService(Webhooks, webhooks)
        const endAll = yield* inCounting(makeEndAll)
        const claim = yield* inCounting(makeClaim)
        const subjects = yield* Effect.forEach([0, 1, 2], () =>
          Effect.gen(function*() {
            const account = yield* openAccount({ credits: 100 })
            return (yield* create(yield* request(account))).generation
          }))
        const [cancelled, ...others] = subjects
        const ended = yield* endAll([{ _tag: "Cancel", subject: cancelled! }])
        assert.deepStrictEqual(ended, [Result.succeed(cancelled!.id)])
        assert.deepStrictEqual(calls, [])
        const jobs = yield* claim
        assert.deepStrictEqual(calls, ["findEndpoints"])
        const leaseOf = (id: GenerationId) => jobs.find(({ job }) => job === GenerationId.toUuid(id))!
        allEnded(yield* endAll(others.map((subject) => complete({ subject, lease: leaseOf(subject.id) }))))
        assert.deepStrictEqual(calls, ["findEndpoints", "findEndpoints"])
      }))

    it.effect("publishes a job with the longest prompt", () =>
      Effect.gen(function*() {
        const { now, published } = yield* openJob()
        const { publish } = yield* Webhooks
        const store = yield* GenerationStore
        // Each is one code point, and six bytes of JSON.
        const prompt = "\u0001".repeat(100_000)
        const id = yield* GenerationId.make
        const generation = { ...(yield* now), id, prompt, status: "processing" } as const
        yield* store.insert([generation])
        const [stored] = yield* store.find([id])
        assert.strictEqual(stored?.prompt, prompt)
        yield* publish(GenerationEvent.ofChanged([generation]))
        assert.deepStrictEqual((yield* published).map(({ generation }) => generation), [generation])
      }))
  })
}

/** Throws unless every command of the set ended its generation. */
export const allEnded = (results: ReadonlyArray<Result.Result<GenerationId, unknown>>): void =>
  results.forEach((result) => void Result.getOrThrow(result))
