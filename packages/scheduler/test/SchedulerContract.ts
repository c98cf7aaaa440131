/** The guarantees of the scheduler on every backend. */
import { assert, layer } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence"
import { Cause, DateTime, Duration, Effect, Exit, type Layer, Option, Result } from "effect"
import { TestClock } from "effect/testing"
import { noChanges } from "../src/internal/laneChanges.ts"
import type { LaneCounters } from "../src/internal/loadedLanes.ts"
import * as Lanes from "../src/Lanes.ts"
import { Scheduler } from "../src/Scheduler.ts"
import { SchedulerStore } from "../src/SchedulerStore.ts"
import { type Backend, ids, makeWorld, refusal, stateOf } from "./Fixture.ts"

export const suite = <E>(name: string, backend: Layer.Layer<Backend, E>) =>
  layer(backend)(`Scheduler (${name})`, (it) => {
    it.effect("gives slots up to the cap, queues the next jobs, and refuses jobs beyond the limit of the group", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        const enqueue = (lane: string) =>
          scheduler.enqueue(world.job({ lane: `${world.lane}-${lane}`, cap: 2, waitingMax: 3 }))
        const states = yield* Effect.forEach(["a", "a", "a", "b", "b", "b", "a"], enqueue)
        assert.deepStrictEqual(
          states.map(({ state }) => state),
          ["queued", "queued", "pending", "queued", "queued", "pending", "pending"]
        )
        const reason = yield* refusal(enqueue("b"))
        if (reason._tag !== "QueueFull") return assert.fail(reason._tag)
        assert.deepStrictEqual([reason.group, reason.waiting, reason.max], [world.group, 3, 3])
        assert.strictEqual((yield* enqueue("c")).state, "queued")
        assert.deepStrictEqual(yield* scheduler.verify, [])
      }))

    it.effect("checks the room for a job like it would be decided, and creates no lane", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        const terms = { cap: 1, waitingMax: 1 }
        const lanes = ["a", "a", "b", "a", "b", "c"].map((lane) => `${world.lane}-${lane}`)
        for (const lane of lanes) {
          const checked = yield* Effect.result(scheduler.checkRoom({ lane, group: world.group, ...terms }))
          const enqueued = yield* Effect.result(scheduler.enqueue(world.job({ lane, ...terms })))
          assert.deepStrictEqual(Result.map(enqueued, () => undefined), checked)
        }
        const [lane] = lanes
        const full = yield* refusal(scheduler.checkRoom({ lane: lane!, group: world.group, ...terms }))
        assert.deepInclude(full, { _tag: "QueueFull", waiting: 1, max: 1 })
        // A higher cap gives the waiting job a slot.
        yield* scheduler.checkRoom({ lane: lane!, group: world.group, ...terms, cap: 2 })
        assert.deepStrictEqual(yield* scheduler.verify, [])
      }))

    it.effect("queues 20 jobs per group by default", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        const results = yield* Effect.forEach(
          Array.from({ length: 30 }, () => world.job()),
          (job) => Effect.result(scheduler.enqueue(job)),
          { concurrency: 30 }
        )
        assert.strictEqual(results.filter(Result.isSuccess).length, 21)
        assert.deepStrictEqual(yield* scheduler.verify, [])
      }))

    it.effect("promotes the oldest job in the unit that frees its slot", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const { atomically } = yield* UnitOfWork.UnitOfWork
        const world = yield* makeWorld
        const [first, second, third] = yield* Effect.forEach([1, 2, 3], () => scheduler.enqueue(world.job()))
        const [claimed] = yield* world.claim()
        assert.strictEqual(claimed?.job, first?.job)
        const saved = yield* atomically(Effect.gen(function*() {
          const lanes = yield* scheduler.load({ jobs: [claimed!] })
          return yield* scheduler.save(Result.getOrThrow(Lanes.settle(lanes, claimed!)).state)
        }))
        assert.deepStrictEqual(saved.promoted, [second!.job])
        assert.deepStrictEqual(
          yield* Effect.forEach([first!.job, second!.job, third!.job], stateOf),
          [undefined, "queued", "pending"]
        )
        assert.deepStrictEqual(yield* scheduler.verify, [])
      }))

    it.effect("writes nothing of a decision that is not adopted, or of a unit that fails", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const { atomically } = yield* UnitOfWork.UnitOfWork
        const world = yield* makeWorld
        const [dropped, undone] = [world.job(), world.job()]
        yield* atomically(Effect.gen(function*() {
          const lanes = yield* scheduler.load({ lanes: [dropped] })
          assert.isTrue(Result.isSuccess(Lanes.enqueue(lanes, dropped)))
          yield* scheduler.save(lanes)
        }))
        yield* Effect.flip(atomically(Effect.andThen(scheduler.enqueue(undone), Effect.fail("no"))))
        assert.deepStrictEqual(yield* scheduler.find([dropped.job, undone.job]), [])
        assert.strictEqual((yield* scheduler.enqueue(world.job())).state, "queued")
        assert.deepStrictEqual(yield* scheduler.verify, [])
      }))

    it.effect("returns enqueued jobs with their options when they are claimed", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        yield* TestClock.adjust("1 hour")
        const command = world.job({ payload: { n: 7 }, attemptsMax: 5, timeLimit: "10 minutes" })
        const start = yield* DateTime.now
        yield* scheduler.enqueue(command)
        yield* TestClock.adjust("1 minute")
        const [claimed] = yield* world.claim()
        assert.deepStrictEqual<unknown>(
          { ...claimed!, timeLimit: Option.map(claimed!.timeLimit, Duration.toMillis) },
          {
            job: command.job,
            lane: world.lane,
            group: world.group,
            kind: world.kind.name,
            payload: { n: 7 },
            checkpoint: Option.none(),
            epoch: 1,
            attempt: 1,
            attemptsMax: 5,
            failures: 0,
            enqueuedAt: start,
            startedAt: DateTime.add(start, { minutes: 1 }),
            claimedAt: DateTime.add(start, { minutes: 1 }),
            timeLimit: Option.some(600_000)
          }
        )
        const [status] = yield* scheduler.find([command.job])
        assert.deepStrictEqual([status?.state, status?.worker], ["running", Option.some("test")])
      }))

    it.effect("claims jobs by kind, up to the limit, the oldest slot first", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const [world, other] = [yield* makeWorld, yield* makeWorld]
        yield* scheduler.enqueue(other.job())
        const jobs = yield* Effect.forEach([1, 2, 3], () => scheduler.enqueue(world.job({ cap: 3 })))
        assert.deepStrictEqual(ids(yield* world.claim({ limit: 2 })), ids(jobs.slice(0, 2)))
        assert.deepStrictEqual(ids(yield* world.claim({ limit: 2 })), ids(jobs.slice(2)))
        assert.deepStrictEqual(yield* world.claim(), [])
        assert.deepStrictEqual(yield* world.claim({ kinds: [] }), [])
      }))

    it.effect("serves the lane with the fewest running jobs per weight first, also within one claim", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        const enqueue = (name: string, weight: number) =>
          scheduler.enqueue(world.job({ lane: `${world.lane}-${name}`, cap: 4, weight }))
        const laneOf = ({ lane }: { readonly lane: string }) => lane.slice(world.lane.length + 1)
        for (const [name, weight] of [["a", 1], ["a", 1], ["a", 1], ["a", 1]] as const) yield* enqueue(name, weight)
        for (const name of ["b", "b", "b", "b"]) yield* enqueue(name, 2)
        yield* enqueue("c", 1)
        const first = yield* world.claim({ limit: 6 })
        assert.deepStrictEqual(first.map(laneOf), ["a", "b", "c", "b", "a", "b"])
        // Only one job of "a" is running then.
        yield* scheduler.settle(first[0]!)
        yield* enqueue("d", 1)
        yield* enqueue("d", 1)
        assert.deepStrictEqual((yield* world.claim()).map(laneOf), ["d", "a", "d", "b", "a"])
        assert.deepStrictEqual(yield* scheduler.verify, [])
      }))

    it.effect("counts jobs that got their slots when others ended or the cap was raised", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        const [crowd, other] = [{ lane: `${world.lane}-crowd` }, { lane: `${world.lane}-other`, cap: 9 }]
        const jobs = yield* Effect.forEach([1, 2, 3, 4, 5, 6], () => scheduler.enqueue(world.job({ ...crowd, cap: 2 })))
        const [first] = yield* world.claim({ limit: 1 })
        yield* scheduler.settle(first!)
        yield* scheduler.setCap({ ...crowd, group: world.group, cap: 4 })
        const others = yield* Effect.forEach([1, 2, 3], () => scheduler.enqueue(world.job(other)))
        const fair = [jobs[1]!, others[0]!, jobs[2]!, others[1]!, jobs[3]!, others[2]!, jobs[4]!]
        assert.deepStrictEqual(ids(yield* world.claim()), ids(fair))
        assert.deepStrictEqual(yield* scheduler.verify, [])
      }))

    it.effect("applies a new weight to the jobs that are queued", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        const laneOf = ({ lane }: { readonly lane: string }) => lane.slice(world.lane.length + 1)
        for (const name of ["a", "a", "a", "a", "b", "b"]) {
          yield* scheduler.enqueue(world.job({ lane: `${world.lane}-${name}`, cap: 4 }))
        }
        const lane = { lane: `${world.lane}-a`, group: world.group }
        yield* scheduler.setCap({ ...lane, cap: 4, weight: 2 })
        assert.deepStrictEqual((yield* world.claim({ limit: 3 })).map(laneOf), ["a", "b", "a"])
        // Keeps the weight.
        yield* scheduler.setCap({ ...lane, cap: 5 })
        assert.deepStrictEqual((yield* world.claim({ limit: 2 })).map(laneOf), ["a", "b"])
        yield* scheduler.enqueue(world.job({ ...lane, cap: 5, weight: 4 }))
        assert.deepStrictEqual((yield* world.claim()).map(laneOf), ["a", "a"])
        assert.deepStrictEqual(yield* scheduler.verify, [])
      }))

    it.effect("keeps claims of several workers at the same time fair together", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        const lanes = [0, 1, 2, 3, 4].map((n) => `${world.lane}-${n}`)
        for (const lane of lanes) {
          yield* Effect.forEach([1, 2, 3, 4], () => scheduler.enqueue(world.job({ lane, cap: 4 })))
        }
        const claims = yield* Effect.forEach([1, 2, 3, 4], () => world.claim({ limit: 2 }), { concurrency: 4 })
        const counts = lanes.map((lane) => claims.flat().filter((job) => job.lane === lane).length)
        assert.strictEqual(claims.flat().length, 8)
        assert.deepStrictEqual(counts, [2, 2, 2, 1, 1])
      }))

    it.effect("leaves the jobs of some groups to other claims", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        const [a, b] = yield* Effect.forEach(["a", "b"], (name) =>
          scheduler.enqueue(world.job({ lane: `${world.lane}-${name}`, group: `${world.group}-${name}` })))
        assert.deepStrictEqual(ids(yield* world.claim({ except: [a!.group] })), ids([b!]))
        assert.deepStrictEqual(ids(yield* world.claim()), ids([a!]))
      }))

    it.effect("cancels only jobs that have not started", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        const [a, b, c] = yield* Effect.forEach([1, 2, 3], () => scheduler.enqueue(world.job()))
        assert.deepStrictEqual(yield* scheduler.cancel(b!.job), { ...b!, state: "pending" })
        assert.deepStrictEqual(yield* scheduler.cancel(a!.job), { ...a!, state: "queued" })
        assert.strictEqual(yield* stateOf(c!.job), "queued")
        yield* world.claim()
        assert.strictEqual((yield* refusal(scheduler.cancel(c!.job)))._tag, "AlreadyRunning")
        assert.strictEqual((yield* refusal(scheduler.cancel(a!.job)))._tag, "NotFound")
        assert.deepStrictEqual(yield* scheduler.verify, [])
      }))

    it.effect("does not cancel a started job while it waits for its next worker", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        const [released, lost] = yield* Effect.forEach([1, 2], () => scheduler.enqueue(world.job({ cap: 2 })))
        yield* scheduler.release(yield* world.claim({ limit: 1 }))
        yield* world.claim({ limit: 2, ttl: "1 second" })
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(ids((yield* world.rescue()).requeued).toSorted(), ids([released!, lost!]).toSorted())
        for (const { job } of [released!, lost!]) {
          assert.strictEqual(yield* stateOf(job), "queued")
          assert.strictEqual((yield* refusal(scheduler.cancel(job)))._tag, "AlreadyRunning")
        }
        assert.deepStrictEqual(yield* scheduler.verify, [])
      }))

    it.effect("accepts one of 16 concurrent cancels", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        const { job } = yield* scheduler.enqueue(world.job())
        const results = yield* Effect.forEach(Array.from({ length: 16 }), () => Effect.result(scheduler.cancel(job)), {
          concurrency: 16
        })
        assert.strictEqual(results.filter(Result.isSuccess).length, 1)
        assert.deepStrictEqual(yield* scheduler.verify, [])
      }))

    it.effect("either cancels or claims a job, never both", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        for (let round = 0; round < 20; round++) {
          const { job } = yield* scheduler.enqueue(world.job())
          const [cancelled, claimed] = yield* Effect.all([Effect.result(scheduler.cancel(job)), world.claim()], {
            concurrency: 2
          })
          assert.strictEqual(Result.isSuccess(cancelled), claimed.length === 0)
          if (claimed[0] !== undefined) yield* scheduler.settle(claimed[0])
        }
        assert.deepStrictEqual(yield* scheduler.verify, [])
      }))

    it.effect("promotes jobs when the cap is raised, and takes no slot away when it is lowered", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        const jobs = yield* Effect.forEach([1, 2, 3, 4], () => scheduler.enqueue(world.job()))
        const states = () => Effect.forEach(jobs, ({ job }) => stateOf(job))
        yield* scheduler.setCap({ lane: world.lane, group: world.group, cap: 3 })
        assert.deepStrictEqual(yield* states(), ["queued", "queued", "queued", "pending"])
        yield* scheduler.setCap({ lane: world.lane, group: world.group, cap: 1 })
        yield* scheduler.cancel(jobs[0]!.job)
        assert.deepStrictEqual(yield* states(), [undefined, "queued", "queued", "pending"])
        // The next job sets the cap too.
        const last = yield* scheduler.enqueue(world.job({ cap: 4 }))
        assert.deepStrictEqual(yield* states(), [undefined, "queued", "queued", "queued"])
        assert.strictEqual(yield* stateOf(last.job), "queued")
        assert.deepStrictEqual(yield* scheduler.verify, [])
      }))

    it.effect("finds jobs that have not started for too long", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        // Before whatever other tests of this database have enqueued.
        yield* TestClock.setTime(-1_000_000_000)
        yield* Effect.forEach([1, 2, 3], () => scheduler.enqueue(world.job({ cap: 3 })))
        const [, released] = yield* world.claim({ limit: 2 })
        yield* scheduler.release([released!])
        const pending = yield* scheduler.enqueue(world.job({ cap: 3 }))
        yield* TestClock.adjust("24 hours")
        yield* scheduler.enqueue(world.job({ cap: 3 }))
        const old = yield* scheduler.waiting(0, 10)
        assert.deepStrictEqual(old.map(({ state }) => state), ["queued", "pending"])
        assert.strictEqual(old[1]!.job, pending.job)
        assert.deepStrictEqual(ids(yield* scheduler.waiting(0, 1)), ids(old.slice(0, 1)))
        const others = yield* scheduler.waiting(0, 1, ids(old.slice(0, 1)))
        assert.deepStrictEqual(ids(others), ids(old.slice(1)))
      }))

    it.effect("dies if a lane is enqueued under another group", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        yield* scheduler.enqueue(world.job())
        const exit = yield* Effect.exit(scheduler.enqueue(world.job({ group: "another" })))
        assert.include(String(exit), "belongs to the group")
      }))

    it.effect("loads lanes only inside a unit of work, and decides only on loaded lanes", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const { atomically } = yield* UnitOfWork.UnitOfWork
        const world = yield* makeWorld
        const outside = yield* Effect.exit(scheduler.load({ lanes: [world] }))
        assert.include(String(outside), "outside of a unit")
        const other = yield* Effect.exit(atomically(
          Effect.map(scheduler.load({ lanes: [world] }), (lanes) =>
            Lanes.enqueue(lanes, world.job({ lane: "not loaded" })))
        ))
        assert.include(String(other), "was not loaded")
      }))

    it.effect("dies if lanes are saved twice, or after other lanes that were decided from the same state", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const { atomically } = yield* UnitOfWork.UnitOfWork
        const world = yield* makeWorld
        yield* scheduler.enqueue(world.job({ cap: 2 }))
        const [running] = yield* world.claim()
        const enqueue = (lanes: Lanes.Lanes) => Result.getOrThrow(Lanes.enqueue(lanes, world.job({ cap: 2 }))).state
        const settle = (lanes: Lanes.Lanes) => Result.getOrThrow(Lanes.settle(lanes, running!)).state
        const pairs = [
          [enqueue, enqueue],
          [enqueue, settle],
          // The counters of the lane are the same afterwards.
          [(lanes: Lanes.Lanes) => enqueue(settle(lanes)), settle]
        ] as const
        for (const [first, second] of pairs) {
          const exit = yield* Effect.exit(atomically(Effect.gen(function*() {
            const lanes = yield* scheduler.load({ lanes: [world], jobs: [running!] })
            yield* scheduler.save(first(lanes))
            yield* scheduler.save(second(lanes))
          })))
          assert.include(String(exit), "load them again before each save")
        }
        const twice = yield* Effect.exit(atomically(Effect.gen(function*() {
          const lanes = enqueue(yield* scheduler.load({ lanes: [world] }))
          yield* scheduler.save(lanes)
          yield* scheduler.save(lanes)
        })))
        assert.isTrue(Exit.isFailure(twice))
        assert.deepStrictEqual(ids(yield* scheduler.find([running!.job])), [running!.job])
        assert.deepStrictEqual(yield* scheduler.verify, [])
      }))

    it.effect("a unit that recovers from a failed save cannot commit", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const { atomically } = yield* UnitOfWork.UnitOfWork
        const world = yield* makeWorld
        yield* scheduler.enqueue(world.job({ cap: 1 }))
        const [running] = yield* world.claim()
        const added = world.job({ cap: 3 })
        const exit = yield* Effect.exit(atomically(Effect.gen(function*() {
          const lanes = yield* scheduler.load({ lanes: [world], jobs: [running!] })
          yield* scheduler.setCap({ lane: world.lane, group: world.group, cap: 2 })
          const settled = Result.getOrThrow(Lanes.settle(lanes, running!)).state
          const failed = yield* Effect.exit(
            scheduler.save(Result.getOrThrow(Lanes.enqueue(settled, added)).state)
          )
          assert.include(String(failed), "load them again before each save")
        })))
        assert.isTrue(Exit.isFailure(exit) && Cause.squash(exit.cause) instanceof UnitOfWork.UnitDoomed, String(exit))
        assert.deepStrictEqual(ids(yield* scheduler.find([running!.job, added.job])), [running!.job])
        assert.deepStrictEqual(yield* scheduler.verify, [])
      }))

    it.effect("verify reports a lane that holds more slots than its cap, unless its cap was lowered", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const store = yield* SchedulerStore
        const { atomically } = yield* UnitOfWork.UnitOfWork
        const { group, job, lane } = yield* makeWorld
        yield* Effect.forEach([1, 2], () => scheduler.enqueue(job({ cap: 2 })))
        yield* scheduler.setCap({ lane, group, cap: 1 })
        assert.deepStrictEqual(yield* scheduler.verify, [])
        const lowered = { lane, group, cap: 1, held: 2, waiting: 0, heldMax: 2, weight: 1 }
        const change = { before: lowered, after: { ...lowered, heldMax: 1 } }
        yield* atomically(Effect.gen(function*() {
          yield* store.apply({ ...noChanges, lanes: [change] })
        }))
        assert.deepStrictEqual(yield* scheduler.verify, [
          { of: "lane", id: lane, counter: "heldMax", stored: 1, found: 2 }
        ])
        yield* scheduler.rebuild
        assert.deepStrictEqual(yield* scheduler.verify, [])
      }))

    it.effect("does not enqueue an id twice", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        const { job } = yield* scheduler.enqueue(world.job())
        const error = yield* Effect.flip(scheduler.enqueue(world.job({ job })))
        assert.isTrue(error._tag === "StorageError" && !error.isRetryable)
        assert.deepStrictEqual(yield* scheduler.verify, [])
      }))

    it.effect("verify finds wrong counters, and rebuild corrects them", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const store = yield* SchedulerStore
        const { atomically } = yield* UnitOfWork.UnitOfWork
        const { group, job, lane } = yield* makeWorld
        const jobs = yield* Effect.forEach([1, 2, 3], () => scheduler.enqueue(job({ cap: 2 })))
        let stored = { lane, group, cap: 2, held: 2, waiting: 1, heldMax: 2, weight: 1 }
        let storedWaiting = 1
        const write = (counters: Partial<LaneCounters>, waiting: number) =>
          atomically(Effect.gen(function*() {
            const after = { lane, group, cap: 2, held: 2, waiting: 1, heldMax: 2, weight: 1, ...counters }
            yield* store.apply({
              ...noChanges,
              groups: [{ before: { group, waiting: storedWaiting }, after: { group, waiting } }],
              lanes: [{ before: stored, after }]
            })
            stored = after
            storedWaiting = waiting
          }))

        yield* write({ held: 5, waiting: 0 }, 7)
        assert.deepStrictEqual(yield* scheduler.verify, [
          { of: "group", id: group, counter: "waiting", stored: 7, found: 1 },
          { of: "lane", id: lane, counter: "held", stored: 5, found: 2 },
          { of: "lane", id: lane, counter: "waiting", stored: 0, found: 1 }
        ])
        yield* scheduler.rebuild
        assert.deepStrictEqual(yield* scheduler.verify, [])
        assert.strictEqual(yield* stateOf(jobs[2]!.job), "pending")

        // A job waited although a slot was free, since a counter was wrong.
        stored = { lane, group, cap: 2, held: 2, waiting: 1, heldMax: 2, weight: 1 }
        storedWaiting = 1
        yield* write({ cap: 3, held: 3, heldMax: 3 }, 1)
        yield* scheduler.rebuild
        assert.strictEqual(yield* stateOf(jobs[2]!.job), "queued")
        assert.deepStrictEqual(yield* scheduler.verify, [])
      }))
  })
