/** The guarantees of leases on every backend. */
import { assert, layer } from "@effect/vitest"
import { DatabaseTime, UnitOfWork } from "@kinora/persistence"
import { Clock, DateTime, Effect, type Layer, Option, Result } from "effect"
import { TestClock } from "effect/testing"
import * as JobKind from "../src/JobKind.ts"
import { Scheduler } from "../src/Scheduler.ts"
import { Wakeup } from "../src/Wakeup.ts"
import { type Backend, ids, makeWorld, refusal, stateOf, takeLease } from "./Fixture.ts"
import { play } from "./PoisonStory.ts"

export const suite = <E>(name: string, backend: Layer.Layer<Backend, E>) =>
  layer(backend)(`Leases (${name})`, (it) => {
    it.effect("settles a job once, and only under its epoch", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        yield* scheduler.enqueue(world.job())
        const [claimed] = yield* world.claim()
        const wrong = yield* refusal(scheduler.settle({ ...claimed!, epoch: 2 }))
        assert.strictEqual(wrong._tag, "LeaseLost")
        assert.strictEqual((yield* scheduler.settle(claimed!)).state, "running")
        assert.strictEqual((yield* refusal(scheduler.settle(claimed!)))._tag, "LeaseLost")
        assert.deepStrictEqual(yield* scheduler.verify, [])
      }))

    it.effect("ignores the writes of a worker whose lease was rescued", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        yield* scheduler.enqueue(world.job())
        const [lost] = yield* world.claim()
        yield* scheduler.checkpoint({ ...lost!, checkpoint: { step: 1 } })
        yield* TestClock.adjust("29 seconds")
        assert.deepStrictEqual(yield* world.rescue(), { requeued: [], exhausted: [] })
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(ids((yield* world.rescue()).requeued), [lost!.job])

        const attempts = () =>
          Effect.all([
            Effect.map(refusal(scheduler.settle(lost!)), ({ _tag }) => _tag),
            Effect.map(refusal(scheduler.checkpoint({ ...lost!, checkpoint: "late" })), ({ _tag }) => _tag),
            scheduler.release([lost!])
          ])
        assert.deepStrictEqual(yield* attempts(), ["LeaseLost", "LeaseLost", undefined])
        const [taker] = yield* world.claim()
        assert.deepStrictEqual(yield* attempts(), ["LeaseLost", "LeaseLost", undefined])

        assert.deepStrictEqual(
          [taker!.epoch, taker!.attempt, taker!.checkpoint, taker!.startedAt],
          [2, 2, Option.some({ step: 1 }), lost!.startedAt]
        )
        assert.strictEqual((yield* scheduler.settle(taker!)).job, lost!.job)
        assert.deepStrictEqual(yield* scheduler.verify, [])
      }))

    it.effect("leaves the jobs of a worker that renews its lease, and takes over those of one that does not", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        yield* Effect.forEach([1, 2, 3], () => scheduler.enqueue(world.job({ cap: 3 })))
        const [kept, left] = [yield* takeLease(), yield* takeLease()]
        const [first] = yield* world.claim({ lease: kept, limit: 1 })
        const [second] = yield* world.claim({ lease: left, limit: 1 })
        yield* TestClock.adjust("20 seconds")
        assert.isTrue(yield* scheduler.renewLease({ lease: kept, kinds: [], ttl: "30 seconds" }))
        // A job that is claimed later is under the same lease.
        const [third] = yield* world.claim({ lease: kept, limit: 1 })
        yield* TestClock.adjust("20 seconds")
        assert.deepStrictEqual(ids((yield* world.rescue()).requeued), [second!.job])
        yield* TestClock.adjust("10 seconds")
        assert.deepStrictEqual(ids((yield* world.rescue()).requeued), [first!.job, third!.job])
      }))

    it.effect("takes over jobs under the lease of the rescuer that it does not hold, if it names those that it holds", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        const commands = yield* Effect.forEach(
          [1, 2, 3],
          () => scheduler.enqueue(world.job({ cap: 3, attemptsMax: 2 }))
        )
        const lease = yield* takeLease()
        const [held, lost, other] = [
          ...yield* world.claim({ lease, limit: 2 }),
          ...yield* world.claim()
        ]
        assert.deepStrictEqual(ids([held!, lost!, other!]), ids(commands))
        assert.deepStrictEqual(yield* world.rescue({ lease }), { requeued: [], exhausted: [] })
        assert.deepStrictEqual(yield* world.rescue({ lease, held: ids([held!, lost!]) }), {
          requeued: [],
          exhausted: []
        })
        assert.deepStrictEqual(ids((yield* world.rescue({ lease, held: [held!.job] })).requeued), [lost!.job])
        assert.strictEqual((yield* refusal(scheduler.settle(lost!)))._tag, "LeaseLost")
        assert.strictEqual((yield* scheduler.settle(held!)).state, "running")
        assert.deepStrictEqual(yield* scheduler.verify, [])
      }))

    it.effect("never renews a lease that has expired, and claims and rescues nothing under it", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        yield* scheduler.enqueue(world.job({ cap: 2 }))
        yield* scheduler.enqueue(world.job({ cap: 2 }))
        const lease = yield* takeLease()
        const [lost] = yield* world.claim({ lease, limit: 1 })
        yield* TestClock.adjust("30 seconds")
        const dead = () =>
          Effect.all([
            scheduler.renewLease({ lease, kinds: [], ttl: "30 seconds" }),
            world.claim({ lease }),
            world.rescue({ lease })
          ])
        const nothing = [false, [], { requeued: [], exhausted: [] }] as const
        assert.deepStrictEqual<unknown>(yield* dead(), nothing)
        assert.deepStrictEqual(ids((yield* world.rescue()).requeued), [lost!.job])
        assert.deepStrictEqual<unknown>(yield* dead(), nothing)
      }))

    it.effect("takes over the jobs of an earlier lease of a worker, and of a lease that was returned, at once", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        yield* Effect.forEach([1, 2], () => scheduler.enqueue(world.job({ cap: 2 })))
        const earlier = yield* takeLease("1 hour", world.lane)
        const [first] = yield* world.claim({ lease: earlier, limit: 1 })
        const later = yield* takeLease("1 hour", world.lane)
        assert.isFalse(yield* scheduler.renewLease({ lease: earlier, kinds: [], ttl: "1 hour" }))
        assert.deepStrictEqual(ids((yield* world.rescue()).requeued), [first!.job])
        const [again, second] = yield* world.claim({ lease: later })
        yield* scheduler.returnLease(later)
        assert.deepStrictEqual(ids((yield* world.rescue()).requeued), [again!.job, second!.job])
      }))

    it.effect("takes over all jobs after all leases were ended", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        yield* scheduler.enqueue(world.job({ cap: 2 }))
        yield* scheduler.enqueue(world.job({ cap: 2, attemptsMax: 1 }))
        const [lost, last] = yield* world.claim({ ttl: "1 hour" })
        yield* scheduler.checkpoint({ ...lost!, checkpoint: { step: 1 } })
        assert.isAtLeast(yield* scheduler.endLeases, 2)

        const { exhausted, requeued } = yield* world.rescue()
        assert.deepStrictEqual(ids(requeued), [lost!.job])
        assert.deepStrictEqual(ids(exhausted), [last!.job])
        assert.strictEqual((yield* scheduler.settle(exhausted[0]!)).job, last!.job)
        const [taker] = yield* world.claim()
        assert.deepStrictEqual([taker!.epoch, taker!.attempt, taker!.checkpoint], [2, 2, Option.some({ step: 1 })])
        assert.strictEqual((yield* refusal(scheduler.settle(lost!)))._tag, "LeaseLost")
      }))

    it.effect("claims the last attempt of a job alone and after a pause", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        const { job } = yield* scheduler.enqueue(world.job({ cap: 2 }))
        const other = yield* scheduler.enqueue(world.job({ cap: 2 }))
        const lose = Effect.fnUntraced(function*(options: { readonly alone?: boolean } = {}) {
          const [lost] = yield* world.claim({ limit: 1, ttl: "8 seconds", ...options })
          yield* TestClock.adjust("8 seconds")
          return [lost!.job, lost!.attempt, yield* world.rescue()] as const
        })
        for (const attempt of [1, 2]) {
          assert.deepStrictEqual((yield* lose()).slice(0, 2), [job, attempt])
        }
        const due = (isIdle: boolean, id = "z") => scheduler.isAloneDue({ id, isIdle, kinds: [world.kind.name] })
        assert.deepStrictEqual(ids(yield* world.claim()), [other.job])
        yield* TestClock.adjust("9 seconds")
        assert.deepStrictEqual([yield* due(true), yield* world.claim({ alone: true })], [false, []])
        yield* TestClock.adjust("1 second")
        assert.isTrue(yield* due(true))
        // A worker with jobs makes room for it, unless another one with a lower id does.
        assert.isTrue(yield* due(false))
        const offer = { worker: "test", kinds: [world.kind.name], slots: 1, ttl: "30 seconds" } as const
        const leader = yield* scheduler.takeLease({ ...offer, id: `${world.lane}-leader` })
        assert.deepStrictEqual([yield* due(false), yield* due(true), yield* due(false, world.lane)], [
          false,
          true,
          true
        ])
        yield* scheduler.returnLease(leader)

        // A worker that stops returns it as a job that runs alone.
        const [released] = yield* world.claim({ alone: true })
        assert.deepStrictEqual([released!.job, released!.attempt], [job, 3])
        yield* scheduler.release([released!])
        assert.deepStrictEqual(yield* world.claim(), [])
        const [, attempt, { exhausted }] = yield* lose({ alone: true })
        assert.deepStrictEqual([attempt, ids(exhausted)], [3, [job]])
        assert.isFalse(yield* due(true))
      }))

    it.effect("leases a job without attempts left to its rescuer only", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        const { job } = yield* scheduler.enqueue(world.job({ attemptsMax: 1 }))
        const [lost] = yield* world.claim()
        yield* TestClock.adjust("30 seconds")
        const [first] = (yield* world.rescue()).exhausted
        assert.deepStrictEqual([first!.job, first!.epoch, first!.attempt, first!.attemptsMax], [job, 2, 1, 1])
        // The rescuer is lost too.
        assert.deepStrictEqual(yield* world.rescue(), { requeued: [], exhausted: [] })
        yield* TestClock.adjust("30 seconds")
        const [second] = (yield* world.rescue()).exhausted
        assert.strictEqual((yield* refusal(scheduler.settle(lost!)))._tag, "LeaseLost")
        assert.strictEqual((yield* refusal(scheduler.settle(first!)))._tag, "LeaseLost")
        assert.strictEqual((yield* scheduler.settle(second!)).job, job)
      }))

    it.effect("leaves the jobs of a pool queued until a worker that serves the pool claims them", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        const gpu = JobKind.pool(world.kind, "gpu")
        const [pooled, any] = yield* Effect.forEach(
          [gpu, world.kind],
          (kind) => scheduler.enqueue(world.job({ kind, cap: 2 }))
        )
        assert.deepStrictEqual(ids(yield* world.claim()), ids([any!]))
        assert.deepStrictEqual(ids(yield* world.claim({ kinds: [`${world.kind.name}:cpu`] })), [])
        assert.strictEqual(yield* stateOf(pooled!.job), "queued")
        assert.deepStrictEqual(ids(yield* world.claim({ kinds: [world.kind.name, gpu.name] })), ids([pooled!]))
      }))

    it.effect("claims the jobs of several pools in the order in which they got their slots", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        const kinds = ["a", "b", "c"].map((pool) => JobKind.pool(world.kind, pool))
        const jobs = yield* Effect.forEach(
          [2, 0, 1, 0, 2, 1],
          (index) => scheduler.enqueue(world.job({ kind: kinds[index]!, cap: 6 }))
        )
        const names = [kinds[2]!.name, kinds[0]!.name]
        const [first, second, , fourth, fifth] = jobs
        assert.deepStrictEqual(ids(yield* world.claim({ kinds: names, limit: 3 })), ids([first!, second!, fourth!]))
        assert.deepStrictEqual(ids(yield* world.claim({ kinds: names })), ids([fifth!]))
      }))

    it.effect("moves a released job to a pool", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        yield* scheduler.enqueue(world.job())
        const [claimed] = yield* world.claim()
        yield* scheduler.release([{ ...claimed!, pool: "gpu" }])
        assert.deepStrictEqual(yield* world.claim(), [])
        const [again] = yield* world.claim({ kinds: [`${world.kind.name}:gpu`] })
        assert.deepStrictEqual([again!.job, again!.attempt], [claimed!.job, 1])
        // A pool replaces the pool.
        yield* scheduler.release([{ ...again!, pool: "cpu" }])
        assert.deepStrictEqual(ids(yield* world.claim({ kinds: [`${world.kind.name}:cpu`] })), [claimed!.job])
      }))

    it.effect("rescues the jobs of all pools of a kind", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        const gpu = JobKind.pool(world.kind, "gpu")
        const lost = yield* scheduler.enqueue(world.job({ kind: gpu, cap: 2 }))
        const last = yield* scheduler.enqueue(world.job({ kind: gpu, cap: 2, attemptsMax: 1 }))
        yield* world.claim({ kinds: [gpu.name] })
        yield* TestClock.adjust("30 seconds")
        const { exhausted, requeued } = yield* world.rescue()
        assert.deepStrictEqual([ids(requeued), ids(exhausted)], [[lost.job], [last.job]])
        // It is still a job of the pool.
        assert.deepStrictEqual(yield* world.claim(), [])
        assert.deepStrictEqual(ids(yield* world.claim({ kinds: [gpu.name] })), [lost.job])
      }))

    it.effect("leases a started job to its rescuer when its time limit passes while it waits for its next worker", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        const gpu = JobKind.pool(world.kind, "gpu")
        const limits = { kind: gpu, cap: 3, timeLimit: "1 minute" } as const
        yield* Effect.forEach(
          [limits, { ...limits, timeLimit: undefined }, limits],
          (options) => scheduler.enqueue(world.job(options))
        )
        const [late, unlimited] = yield* world.claim({ kinds: [gpu.name], limit: 2 })
        yield* scheduler.release([late!, unlimited!])
        yield* TestClock.adjust("59 seconds")
        assert.deepStrictEqual(yield* world.rescue(), { requeued: [], exhausted: [] })
        yield* TestClock.adjust("1 second")
        // The others have no time limit, and have not started.
        const { exhausted, requeued } = yield* world.rescue()
        assert.deepStrictEqual([ids(requeued), ids(exhausted)], [[], [late!.job]])
        assert.strictEqual((yield* scheduler.settle(exhausted[0]!)).job, late!.job)
      }))

    it.effect("queues a released job before all others, without counting the attempt", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        const [a, b, c] = yield* Effect.forEach([1, 2, 3], () => scheduler.enqueue(world.job({ cap: 3 })))
        const claimed = yield* world.claim({ limit: 2 })
        yield* scheduler.checkpoint({ ...claimed[0]!, checkpoint: "kept" })
        yield* scheduler.release([claimed[1]!, claimed[0]!])
        const again = yield* world.claim()
        assert.deepStrictEqual(ids(again), ids([a!, b!, c!]))
        assert.deepStrictEqual([again[0]!.epoch, again[0]!.attempt], [2, 1])
        assert.deepStrictEqual(again[0]!.checkpoint, Option.some("kept"))
        assert.deepStrictEqual(yield* scheduler.verify, [])
      }))

    it.effect("claims resumable jobs of the kinds that the worker has no room for, in the order of the queue", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        const [full, free] = [JobKind.pool(world.kind, "full"), JobKind.pool(world.kind, "free")]
        const kinds = [full, free, full, full, free]
        const jobs = yield* Effect.forEach(kinds, (kind) => scheduler.enqueue(world.job({ cap: 5, kind })))
        const claimed = yield* world.claim({ kinds: [full.name, free.name], limit: 3 })
        yield* scheduler.checkpoint({ ...claimed[0]!, checkpoint: "kept" })
        yield* scheduler.checkpoint({ ...claimed[1]!, checkpoint: "kept" })
        yield* scheduler.checkpoint({ ...claimed[2]!, checkpoint: "kept", resumable: true })
        yield* scheduler.release(claimed)
        const selected = { kinds: [free.name], resumableKinds: [full.name, free.name] }
        const again = yield* world.claim({ ...selected, limit: 2 })
        assert.deepStrictEqual(ids(again), ids([jobs[1]!, jobs[2]!]))
        assert.deepStrictEqual(again[1]!.checkpoint, Option.some("kept"))
        // A checkpoint says it anew.
        yield* scheduler.checkpoint({ ...again[1]!, checkpoint: "kept" })
        yield* scheduler.release(again)
        assert.deepStrictEqual(ids(yield* world.claim({ kinds: [], resumableKinds: [full.name] })), [])
        assert.deepStrictEqual(ids(yield* world.claim(selected)), ids([jobs[1]!, jobs[4]!]))
      }))

    it.effect("wakes workers when jobs are released, after the unit has committed, unless all leases are lost", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const { atomically } = yield* UnitOfWork.UnitOfWork
        const wakeup = yield* Wakeup
        const world = yield* makeWorld
        yield* scheduler.enqueue(world.job())
        const [claimed] = yield* world.claim()
        const woken = yield* wakeup.subscribe
        yield* atomically(Effect.gen(function*() {
          yield* scheduler.release([claimed!])
          assert.isFalse(woken.isOpen())
        }))
        assert.isTrue(woken.isOpen())
        yield* woken.close
        yield* scheduler.release([claimed!])
        assert.isFalse(woken.isOpen())
      }).pipe(Effect.scoped))

    it.effect("stores the last of several checkpoints of the newest epoch", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        yield* scheduler.enqueue(world.job())
        const [first] = yield* world.claim()
        yield* scheduler.release([first!])
        const [second] = yield* world.claim()
        const results = yield* Effect.forEach(
          [[second!, 1], [first!, 2], [second!, 3], [first!, 4]] as const,
          ([lease, checkpoint]) => Effect.result(scheduler.checkpoint({ ...lease, checkpoint })),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(results.map(Result.isSuccess), [true, false, true, false])
        yield* scheduler.release([second!])
        assert.deepStrictEqual((yield* world.claim())[0]!.checkpoint, Option.some(3))
      }))

    it.effect("claims the only job of one group after at most the slots of another group with 1,000 jobs", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        const slots = 4
        const crowd = Array.from({ length: 1_000 }, () => world.job({ cap: slots, waitingMax: 1_000 }))
        yield* Effect.forEach(crowd, scheduler.enqueue, { concurrency: "unbounded", discard: true })
        const alone = world.job({ lane: `${world.lane}-alone`, group: `${world.group}-alone` })
        yield* scheduler.enqueue(alone)

        const order: Array<string> = []
        while (!order.includes(alone.job)) {
          const [job] = yield* world.claim({ limit: 1 })
          order.push(job!.job)
          // A job that ends frees its slot for the next one of its lane.
          if (order.length % 2 === 0) yield* scheduler.settle(job!)
        }
        assert.isAtMost(order.length, slots + 1)
        assert.deepStrictEqual(yield* scheduler.verify, [])
      }))

    it.effect("fails jobs that end the process of their worker, and no job that ran beside them", () =>
      Effect.forEach([3, 5], (attemptsMax) => play({ innocent: 6, poisoned: 2, slots: 4, attemptsMax })))

    it.effect("leaves a job to its worker, whatever the clocks of the workers show", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        const kind = JobKind.pool(world.kind, "gpu")
        yield* scheduler.enqueue(world.job({ kind, timeLimit: "1 minute" }))
        const clock = yield* Clock.Clock
        const on = (millis: number) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
          effect.pipe(
            Effect.provideService(DatabaseTime.DatabaseClock, clock),
            Effect.provideService(Clock.Clock, skewed(clock, millis))
          )
        for (const skew of [120_000, -120_000]) {
          const other = on(skew)
          const own = on(-skew)
          const lease = yield* own(takeLease("8 seconds"))
          const [job] = yield* own(world.claim({ lease, kinds: [kind.name] }))
          assert.deepStrictEqual([job!.startedAt, job!.claimedAt], [yield* DateTime.now, yield* DateTime.now])
          for (let beats = 0; beats < 3; beats++) {
            // The moment before the lease expires.
            yield* TestClock.adjust(7_999)
            assert.deepStrictEqual(yield* other(world.rescue()), { requeued: [], exhausted: [] })
            assert.isTrue(yield* own(scheduler.renewLease({ lease, kinds: [], ttl: "8 seconds" })))
          }
          yield* own(scheduler.settle(job!))
          const waiting = yield* scheduler.enqueue(world.job({ kind, timeLimit: "1 minute" }))
          assert.notInclude(ids(yield* other(scheduler.waiting("1 second", 1_000))), waiting.job)
        }
      }))

    it.effect("counts the jobs and the workers of each kind and pool", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        const [gpu, idle] = ["gpu", "idle"].map((pool) => JobKind.pool(world.kind, pool).name)
        const kind = JobKind.pool(world.kind, "gpu")
        const oldest = yield* DateTime.now
        yield* scheduler.enqueue(world.job({ kind, cap: 3 }))
        yield* TestClock.adjust("1 second")
        yield* Effect.forEach([1, 2, 3], () => scheduler.enqueue(world.job({ kind, cap: 3 })))
        yield* scheduler.enqueue(world.job({ lane: `${world.lane}-2`, cap: 1 }))
        yield* world.claim()
        const offer = { worker: "test", slots: 4, ttl: "30 seconds" } as const
        const first = yield* scheduler.takeLease({ ...offer, id: `${world.lane}-a`, kinds: [world.kind.name, gpu!] })
        yield* scheduler.takeLease({ ...offer, id: `${world.lane}-b`, kinds: [gpu!, idle!], slots: 2 })

        const own = Effect.map(
          scheduler.queues,
          (queues) => queues.filter(({ kind }) => kind.split(":")[0] === world.kind.name)
        )
        const none = { pending: 0, queued: 0, running: 0, delayed: 0, oldest: Option.none() }
        const jobs = { ...none, pending: 1, queued: 3, oldest: Option.some(oldest) }
        assert.deepStrictEqual(yield* own, [
          { ...none, kind: world.kind.name, running: 1, workers: 1, slots: 4 },
          { ...jobs, kind: gpu!, workers: 2, slots: 6 },
          { ...none, kind: idle!, workers: 1, slots: 2 }
        ])

        // A worker that is renewed stays, one that is lost leaves at its expiry, and one that stops leaves at once.
        yield* TestClock.adjust("20 seconds")
        const offers = (yield* scheduler.offers).filter(({ id }) => id.startsWith(world.lane))
        assert.sameDeepMembers(offers.map(({ id, kinds }) => [id, kinds]), [
          [`${world.lane}-a`, [world.kind.name, gpu!]],
          [`${world.lane}-b`, [gpu!, idle!]]
        ])
        yield* scheduler.renewLease({ lease: first, kinds: [gpu!], ttl: "30 seconds" })
        yield* TestClock.adjust("10 seconds")
        assert.deepStrictEqual(yield* own, [
          { ...none, kind: world.kind.name, running: 1, workers: 0, slots: 0 },
          { ...jobs, kind: gpu!, workers: 1, slots: 4 }
        ])
        // A worker that drains claims nothing, and is no offer.
        yield* scheduler.renewLease({ lease: first, kinds: [], ttl: "30 seconds" })
        assert.deepStrictEqual((yield* own).map(({ workers }) => workers), [0, 0])
        assert.deepStrictEqual((yield* scheduler.offers).filter(({ id }) => id.startsWith(world.lane)), [])
      }))

    it.effect("asks a worker to drain while its lease holds, also under its next lease, until it is asked to resume", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        const [id, other] = [`${world.lane}-a`, `${world.lane}-b`]
        const [first, kept] = [yield* takeLease("30 seconds", id), yield* takeLease("30 seconds", other)]
        assert.isFalse(yield* scheduler.isDrained(first))
        assert.isFalse(yield* scheduler.drain(`${id}-unknown`))
        assert.deepStrictEqual([yield* scheduler.drain(id), yield* scheduler.drain(id)], [true, true])
        assert.deepStrictEqual([yield* scheduler.isDrained(first), yield* scheduler.isDrained(kept)], [true, false])
        const next = yield* takeLease("30 seconds", id)
        assert.deepStrictEqual([yield* scheduler.isDrained(first), yield* scheduler.isDrained(next)], [false, true])
        assert.isFalse(yield* scheduler.resume(`${id}-unknown`))
        assert.deepStrictEqual([yield* scheduler.resume(id), yield* scheduler.resume(other)], [true, true])
        assert.deepStrictEqual([yield* scheduler.isDrained(next), yield* scheduler.isDrained(kept)], [false, false])
        yield* TestClock.adjust("30 seconds")
        assert.isFalse(yield* scheduler.drain(other))
        assert.isFalse(yield* scheduler.resume(other))
      }))

    it.effect("lists the workers whose lease holds, and the lanes that have jobs, page by page", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        const startedAt = yield* DateTime.now
        const offer = { worker: "test", slots: 4, kinds: [world.kind.name], ttl: "30 seconds" } as const
        const [a, b, c] = ["a", "b", "c"].map((name) => `${world.lane}-${name}`)
        const leases = yield* Effect.forEach([a!, b!, c!], (id) => scheduler.takeLease({ ...offer, id }))
        for (const lane of [c!, a!, a!, b!]) yield* scheduler.enqueue(world.job({ lane, group: `${lane}-group` }))
        yield* scheduler.enqueue(world.job({ lane: b!, group: `${b!}-group`, cap: 0 }))
        yield* world.claim({ lease: leases[0]!, limit: 2 })

        yield* TestClock.adjust("10 seconds")
        // The second worker drains, and the third one is lost, and starts again.
        yield* scheduler.renewLease({ lease: leases[1]!, kinds: [], ttl: "30 seconds" })
        yield* scheduler.takeLease({ ...offer, id: c! })
        const until = DateTime.add(startedAt, { seconds: 40 })
        const worker = { worker: "test", slots: 4, kinds: [world.kind.name], startedAt: Option.some(startedAt) }
        const workers = [
          { ...worker, id: a!, until: DateTime.add(startedAt, { seconds: 30 }), running: 2, isDraining: false },
          { ...worker, id: b!, kinds: [], until, running: 0, isDraining: true },
          { ...worker, id: c!, until, running: 0, isDraining: false }
        ]
        const own = (after: string, limit: number) => scheduler.workers({ after, limit })
        assert.deepStrictEqual(yield* own(world.lane, 2), workers.slice(0, 2))
        assert.deepStrictEqual(yield* own(a!, 2), workers.slice(1))
        assert.deepStrictEqual((yield* scheduler.workers({ limit: 1_000 })).filter(({ id }) => id === b), [workers[1]!])

        const lane = (lane: string, counts: readonly [number, number, number], cap = 1) => {
          const [pending, queued, running] = counts
          return { lane, group: `${lane}-group`, cap, weight: 1, pending, queued, running, delayed: 0 }
        }
        const lanes = [lane(a!, [1, 0, 1]), lane(b!, [1, 1, 0], 0), lane(c!, [0, 0, 1])]
        assert.deepStrictEqual(yield* scheduler.lanes({ after: world.lane, limit: 2 }), lanes.slice(0, 2))
        assert.deepStrictEqual(yield* scheduler.lanes({ after: b, limit: 1 }), lanes.slice(2))
        assert.deepStrictEqual(yield* scheduler.lanes({ group: `${b}-group`, limit: 2 }), lanes.slice(1, 2))
        assert.deepStrictEqual(yield* scheduler.lanes({ group: `${b}-group`, after: b, limit: 2 }), [])

        // An expired lease is no worker.
        yield* TestClock.adjust("20 seconds")
        assert.deepStrictEqual((yield* own(world.lane, 2)).map(({ id }) => id), [b, c])
      }))
  })

/** A clock that is ahead of another one. */
const skewed = (clock: Clock.Clock, millis: number): Clock.Clock => ({
  currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() + millis,
  currentTimeMillis: Effect.map(clock.currentTimeMillis, (now) => now + millis),
  currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe(),
  currentTimeNanos: clock.currentTimeNanos,
  monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
  monotonicTimeNanos: clock.monotonicTimeNanos,
  sleep: (duration) => clock.sleep(duration)
})
