/** The SQL statements follow the same rules as the pure functions, in random states. */
import { assert, layer } from "@effect/vitest"
import type * as Decision from "@kinora/persistence/Decision"
import * as Rows from "@kinora/persistence/Rows"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { DateTime, Duration, Effect, type Layer, Option, Result, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as Audit from "../src/internal/audit.ts"
import { makeWorld } from "../src/internal/contract/world.ts"
import { noChanges } from "../src/internal/laneChanges.ts"
import * as Leases from "../src/internal/leases.ts"
import type { LaneCounters } from "../src/internal/loadedLanes.ts"
import * as Queues from "../src/internal/queues.ts"
import { restamp } from "../src/internal/shares.ts"
import * as Swaps from "../src/internal/swaps.ts"
import * as Rules from "../src/internal/workers.ts"
import { SchedulerStore } from "../src/SchedulerStore.ts"
import type { Backend } from "./Fixture.ts"

const runs = 60

const Few = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum }))

/** A job whose fields are combined at random, within the constraints of the table. */
const Job = Schema.Struct({
  state: Schema.Literals(["pending", "queued", "running"]),
  kind: Schema.Literals([0, 1, 2]),
  lane: Schema.Literals([0, 1, 2]),
  epoch: Few(3),
  attempt: Few(3),
  attemptsMax: Few(2),
  checkpoint: Schema.Literals(["none", "a"]),
  resumable: Schema.Boolean,
  hasStarted: Schema.Boolean,
  timeLimitSeconds: Schema.Literals([-1, 0, 49, 51]),
  /** Picks a worker, or a lease of the job only, as builds without leases of workers have it. */
  lease: Schema.Literals([0, 1, 2, "gone", "own"]),
  leaseSeconds: Schema.Literals([-1, 0, 1]),
  aloneSeconds: Schema.Literals(["none", -1, 0, 1]),
  share: Schema.Literals([0, 0.5, 1]),
  priority: Few(2),
  /** Whether its place was exchanged. */
  isMoved: Schema.Boolean
})

const Jobs = Schema.Array(Job).check(Schema.isMaxLength(8))

/** The expiry of a worker's lease. Without a lease, a worker of a build without leases of workers. */
const Worker = Schema.Struct({
  seconds: Schema.Literals([-700, -1, 0, 1, 30]),
  hasLease: Schema.Boolean,
  kind: Schema.Literals([0, 1, 2])
})

const Workers = Schema.Tuple([Worker, Worker, Worker])

/** Jobs of few lanes, most of which wait for a worker. */
const Crowd = Schema.Array(Schema.Struct({
  kind: Schema.Literals([0, 1, 2]),
  lane: Schema.Literals([0, 1]),
  priority: Few(3),
  isMoved: Schema.Boolean,
  hasStarted: Schema.Literals([false, false, true]),
  share: Schema.Literals([0, 0.5, 1])
})).check(Schema.isMaxLength(12))

const Own = Schema.Literals([0, 1, 2])

const Lease = Schema.Struct({
  pick: Few(8),
  epoch: Few(4),
  checkpoint: Schema.NullOr(Schema.Literals(["b", "c"])),
  resumable: Schema.Boolean
})

const Command = Schema.Union([
  Schema.TaggedStruct("claim", {
    own: Own,
    limit: Few(4),
    kinds: Few(3),
    hasResumable: Schema.Boolean,
    alone: Schema.Boolean,
    isExcepted: Schema.Boolean
  }),
  // Holds every second job or all, or does not report which jobs it holds.
  Schema.TaggedStruct("rescue", {
    own: Own,
    limit: Few(4),
    kinds: Schema.Literals([1, 2]),
    held: Schema.Literals(["second", "all", "unknown"])
  }),
  Schema.TaggedStruct("isAloneDue", { own: Own, isIdle: Schema.Boolean, kinds: Few(3), hasResumable: Schema.Boolean }),
  Schema.TaggedStruct("take", { own: Own }),
  Schema.TaggedStruct("renew", { own: Own, kind: Schema.Literals([0, 1, 2]) }),
  Schema.TaggedStruct("return", { own: Own }),
  Schema.TaggedStruct("endLeases", {}),
  Schema.TaggedStruct("checkpoint", { lease: Lease }),
  Schema.TaggedStruct("release", { lease: Lease, pool: Schema.optionalKey(Schema.Literals(["pool", "other"])) })
])

const Counters = Schema.Struct({ cap: Few(3), held: Few(4), waiting: Few(3), heldMax: Few(4) })

/** A weight of 0 leaves the lane out, a limit of 0 is none. */
const Restamps = Schema.Struct({ weight: Few(3), limit: Few(3) })

const Lanes = Schema.Tuple([Counters, Counters, Counters])

const now = DateTime.makeUnsafe("2040-01-01T00:00:00Z")
const ttl = Duration.seconds(8)
const aloneDelay = Duration.seconds(10)
const seconds = (count: number) => DateTime.add(now, { seconds: count })

export const suite = <E>(name: string, backend: Layer.Layer<Backend | SqlClient.SqlClient, E>) =>
  layer(backend)(`Rules in SQL (${name})`, (it) => {
    it.effect.prop(
      "claims, rescues, leases and changes under a lease do to the rows what the rules say",
      [Jobs, Workers, Schema.Array(Command).check(Schema.isMaxLength(6))],
      ([smalls, smallWorkers, commands]) =>
        Effect.gen(function*() {
          yield* TestClock.setTime(now.epochMilliseconds)
          const store = yield* SchedulerStore
          const world = yield* makeWorld
          const bases = [`${world.kind.name}-0`, `${world.kind.name}-1`]
          const kinds = [bases[0]!, bases[1]!, `${bases[0]}:pool`]
          yield* clear
          yield* insertLanes(world.group, laneIds(world.lane).map((lane) => emptyLane(lane, world.group)), 0)
          yield* insertJobs(smalls.map((small, index) => jobOf(world, small, index, kinds)))
          yield* insertWorkers(smallWorkers.map((small, index) => workerOf(small, index, kinds)))
          let jobs = yield* readJobs
          let workers = yield* readWorkers
          const change = (changed: ReadonlyArray<Leases.StoredJob>) => {
            const byId = new Map(changed.map((job) => [job.job, job]))
            jobs = jobs.map((job) => byId.get(job.job) ?? job)
          }
          const changeWorker = (worker: Rules.StoredWorker) => {
            workers = [...workers.filter(({ id }) => id !== worker.id), worker].toSorted((a, b) => a.id < b.id ? -1 : 1)
          }
          const underLease = (
            decided: Decision.Decision<Leases.StoredJob, void, unknown>,
            held: ReadonlyArray<string>
          ) => {
            assert.strictEqual(held.length === 1, Result.isSuccess(decided))
            if (Result.isSuccess(decided)) change([decided.success.state])
          }
          const claimed = (jobs: ReadonlyArray<Leases.StoredJob>) => jobs.map((job) => Leases.toClaimed(job, now))

          for (const command of commands) {
            const held = Rules.heldAt(workers, now)
            switch (command._tag) {
              case "claim": {
                const { alone, isExcepted, limit, own } = command
                const except = isExcepted ? [otherGroup(world)] : []
                const given = { ...termsOf(own), ...selectedOf(kinds, command), alone, except, limit }
                // The operation does not call the store without a kind.
                if (given.kinds.length + given.resumableKinds.length === 0) break
                const expected = Leases.claim(jobs, given, held)
                assert.deepStrictEqual(yield* store.claim(given), claimed(expected.claimed))
                change([...expected.claimed, ...expected.displaced])
                break
              }
              case "rescue": {
                const { limit, own } = command
                const holds = jobs.map(({ job }) => job).filter((_, index) => command.held === "all" || index % 2 === 1)
                const given = {
                  ...termsOf(own),
                  aloneDelay,
                  limit,
                  kinds: bases.slice(0, command.kinds),
                  held: command.held === "unknown" ? undefined : holds
                }
                const expected = Leases.rescue(jobs, given, held)
                assert.deepStrictEqual(yield* store.rescue(given), {
                  requeued: expected.requeued.map(({ group, job, lane }) => ({ job, lane, group })),
                  exhausted: claimed(expected.exhausted)
                })
                change([...expected.requeued, ...expected.exhausted])
                if (Rules.isHeld(held, given.lease)) Rules.endExpired(workers, now).forEach(changeWorker)
                break
              }
              case "isAloneDue": {
                const { isIdle, own } = command
                const question = { ...selectedOf(kinds, command), id: `worker-${own}`, isIdle }
                assert.strictEqual(
                  yield* store.isAloneDue(question),
                  Leases.isAloneDue(jobs, workers, question, held)
                )
                break
              }
              case "take": {
                const { own } = command
                const lease = {
                  ...workerOf(smallWorkers[own], own, kinds),
                  lease: `lease-${own}-${workers.length}`,
                  ttl
                }
                const options = { ...lease, worker: "again" }
                yield* store.takeLease(options)
                const before = workers.find(({ id }) => id === options.id)
                const old = Rules.findOld(workers, now)
                workers = workers.filter((worker) => !old.includes(worker))
                const { until: _, ...taken } = options
                changeWorker(Rules.take(before, taken, now))
                break
              }
              case "renew": {
                const renewal = { lease: `lease-${command.own}`, kinds: [kinds[command.kind]!], ttl }
                const found = workers.find(({ lease }) => lease === renewal.lease)
                const expected = Rules.renew(found, renewal, now)
                assert.strictEqual(yield* store.renewLease(renewal), Result.isSuccess(expected))
                if (Result.isSuccess(expected)) changeWorker(expected.success.state)
                break
              }
              case "return": {
                yield* store.returnLease(`lease-${command.own}`)
                workers = workers.filter(({ lease }) => lease !== `lease-${command.own}`)
                break
              }
              case "endLeases": {
                assert.strictEqual(yield* store.endLeases, jobs.filter(({ state }) => state === "running").length)
                workers = []
                // The leases of builds without leases of workers end too.
                jobs = jobs.map((job) =>
                  job.leaseUntil === undefined ? job : { ...job, leaseUntil: DateTime.min(job.leaseUntil, now) }
                )
                break
              }
              default: {
                const found = jobs[command.lease.pick]
                const { checkpoint, epoch, resumable } = command.lease
                const lease = { job: found?.job ?? world.id(), epoch }
                if (command._tag === "release") {
                  const release = { ...lease, pool: command.pool }
                  underLease(Leases.release(found, release), yield* store.release([release]))
                } else {
                  const held = yield* store.checkpoint([{ ...lease, checkpoint, resumable }])
                  underLease(Leases.checkpoint(found, lease, { checkpoint, resumable }), held)
                }
              }
            }
            assert.deepStrictEqual(yield* readJobs, jobs)
            assert.deepStrictEqual(yield* readWorkers, workers)
          }
        }),
      { arbitrary: { runs } }
    )

    it.effect.prop(
      "claims exchange the places of jobs as the rules do",
      [Crowd, Few(5), Few(3)],
      ([smalls, limit, kindCount]) =>
        Effect.gen(function*() {
          yield* TestClock.setTime(now.epochMilliseconds)
          const store = yield* SchedulerStore
          const world = yield* makeWorld
          const kinds = ["a", "b", "c"]
          yield* clear
          yield* insertLanes(world.group, laneIds(world.lane).map((lane) => emptyLane(lane, world.group)), 0)
          yield* insertJobs(smalls.map((small, index) => ({
            ...jobOf(world, { ...idle, ...small }, index, kinds),
            // The places are not in the order of the ages, nor in that of the ids.
            position: 1_000 + (7 * index) % 13
          })))
          yield* insertWorkers([workerOf({ seconds: 30, hasLease: true, kind: 0 }, 0, kinds)])
          let jobs = yield* readJobs
          const places = (jobs: ReadonlyArray<Leases.StoredJob>) =>
            jobs.map(({ lane, position, share }) => [lane, share, position].join()).toSorted()
          const before = places(jobs)
          while (true) {
            const given = {
              ...termsOf(0),
              kinds: kinds.slice(0, kindCount + 1),
              resumableKinds: [],
              alone: false,
              except: [],
              limit: limit + 1
            }
            const { claimed, displaced } = Leases.claim(jobs, given, Rules.heldAt(yield* readWorkers, now))
            assert.deepStrictEqual(yield* store.claim(given), claimed.map((job) => Leases.toClaimed(job, now)))
            const byId = new Map([...claimed, ...displaced].map((job) => [job.job, job]))
            jobs = jobs.map((job) => byId.get(job.job) ?? job)
            assert.deepStrictEqual(yield* readJobs, jobs)
            assert.deepStrictEqual(places(jobs), before)
            if (claimed.length === 0) break
          }
        }),
      { arbitrary: { runs } }
    )

    it.effect.prop(
      "queues and offers return what the rules do",
      [Jobs, Workers],
      ([smalls, smallWorkers]) =>
        Effect.gen(function*() {
          yield* TestClock.setTime(now.epochMilliseconds)
          const store = yield* SchedulerStore
          const world = yield* makeWorld
          yield* clear
          yield* insertLanes(world.group, laneIds(world.lane).map((lane) => emptyLane(lane, world.group)), 0)
          const kinds = ["a", "B:pool", "b"]
          yield* insertJobs(smalls.map((small, index) => jobOf(world, small, index, kinds)))
          // The second worker drains.
          yield* insertWorkers(smallWorkers.map((small, index) => ({
            ...workerOf(small, index, kinds),
            kinds: index === 1 ? [] : [kinds[small.kind]!, "c"]
          })))
          const offers = Rules.offers(yield* readWorkers, now)
          assert.deepStrictEqual(yield* store.queues, Queues.queues(yield* readJobs, [], offers, now))
          assert.sameDeepMembers([...yield* store.offers], [...offers])
        }),
      { arbitrary: { runs } }
    )

    it.effect.prop(
      "workers and lanes return the pages of the rules",
      [Jobs, Workers, Few(2), Few(2), Schema.Boolean],
      ([smalls, smallWorkers, from, more, ofGroup]) =>
        Effect.gen(function*() {
          yield* TestClock.setTime(now.epochMilliseconds)
          const store = yield* SchedulerStore
          const world = yield* makeWorld
          const kinds = ["a", "b", "c"]
          yield* clear
          const lanes = laneIds(world.lane).map((lane) => emptyLane(lane, world.group))
          yield* insertLanes(world.group, lanes, 0)
          yield* insertJobs(smalls.map((small, index) => jobOf(world, small, index, kinds)))
          // The second worker drains.
          yield* insertWorkers(smallWorkers.map((small, index) => ({
            ...workerOf(small, index, kinds),
            kinds: index === 1 ? [] : [kinds[small.kind]!]
          })))
          const jobs = yield* readJobs
          const page = { limit: more + 1 }
          const workers = { ...page, after: from === 0 ? undefined : `worker-${from - 1}` }
          assert.deepStrictEqual(
            yield* store.workers(workers),
            Queues.workers(yield* readWorkers, jobs, workers, now)
          )
          const selection = {
            ...page,
            after: from === 0 ? undefined : lanes[from - 1]!.lane,
            group: ofGroup ? world.group : undefined
          }
          assert.deepStrictEqual(yield* store.lanes(selection), Queues.lanes(lanes, jobs, selection))
        }),
      { arbitrary: { runs } }
    )

    it.effect.prop(
      "verify and recount count what the rules count",
      [Lanes, Jobs, Few(4)],
      ([counters, smalls, groupWaiting]) =>
        Effect.gen(function*() {
          const store = yield* SchedulerStore
          const world = yield* makeWorld
          yield* clear
          const lanes = laneIds(world.lane).map((lane, index) => laneOf(lane, world.group, counters[index]!))
          yield* insertLanes(world.group, lanes, groupWaiting)
          yield* insertJobs(smalls.map((small, index) => jobOf(world, small, index, ["a", "b", "c"])))
          const stored = { groups: [{ group: world.group, waiting: groupWaiting }], lanes }
          const counted = Audit.recount(stored, yield* readJobs)
          assert.deepStrictEqual(yield* store.verify(100), Audit.drifts(stored, counted))
          const recounted = yield* store.recount([world.group])
          assert.deepStrictEqual<unknown>(recounted, { ...stored, jobs: [], recount: counted })
        }),
      { arbitrary: { runs } }
    )

    it.effect.prop(
      "queued jobs get the shares of the rules",
      [Jobs, Schema.Tuple([Restamps, Restamps, Restamps])],
      ([smalls, lanes]) =>
        Effect.gen(function*() {
          const store = yield* SchedulerStore
          const { atomically } = yield* UnitOfWork
          const world = yield* makeWorld
          yield* clear
          yield* insertLanes(world.group, laneIds(world.lane).map((lane) => emptyLane(lane, world.group)), 0)
          yield* insertJobs(smalls.map((small, index) => jobOf(world, small, index, ["a", "b", "c"])))
          const jobs = yield* readJobs
          const restamped = laneIds(world.lane).flatMap((lane, index) => {
            const { limit, weight } = lanes[index]!
            return weight === 0 ? [] : [{ lane, weight, limit: limit === 0 ? undefined : limit }]
          })
          const changed = restamped.flatMap((lane) =>
            restamp(jobs.filter((job) => job.lane === lane.lane && job.state !== "pending"), lane)
          )
          const changes = { ...noChanges, restamped }
          const { kinds, ...applied } = yield* atomically(store.apply(changes))
          assert.deepStrictEqual(applied, { promoted: [], restamped: changed.length, handed: undefined })
          assert.sameMembers([...kinds!], Array.from(new Set(changed.map(({ kind }) => kind))))
          const byId = new Map(changed.map((job) => [job.job, job]))
          assert.deepStrictEqual(yield* readJobs, jobs.map((job) => byId.get(job.job) ?? job))
        }),
      { arbitrary: { runs } }
    )

    it.effect.prop(
      "slots go to the jobs that the rules select",
      [Jobs, Workers, Schema.Tuple([Few(3), Few(3), Few(3)]), Few(4)],
      ([smalls, smallWorkers, counts, limit]) =>
        Effect.gen(function*() {
          yield* TestClock.setTime(now.epochMilliseconds)
          const store = yield* SchedulerStore
          const { atomically } = yield* UnitOfWork
          const world = yield* makeWorld
          const kinds = ["a", "b", "c"]
          yield* clear
          const lanes = laneIds(world.lane)
          yield* insertLanes(world.group, lanes.map((lane) => ({ ...emptyLane(lane, world.group), waiting: 8 })), 24)
          // Most jobs are in one lane and have not started, so that several of them can be exchanged.
          yield* insertJobs(smalls.map((small, index) => {
            const lane = index === 0 ? small.lane : 0
            const crowded = { ...small, lane, epoch: small.epoch === 3 ? 1 : 0 } as const
            return jobOf(
              world,
              index < 5 && small.state === "running" ? { ...crowded, state: "queued" } : crowded,
              index,
              kinds
            )
          }))
          yield* insertWorkers(smallWorkers.map((small, index) => workerOf(small, index, kinds)))
          const jobs = yield* readJobs
          const offered = Swaps.offeredKinds(Rules.offers(yield* readWorkers, now))
          let position = yield* lastPosition
          const swaps = Swaps.swap(jobs, offered, limit, () => ++position)
          const swapped = yield* atomically(store.swap(limit))
          assert.sameMembers(swapped.promoted.map(({ job }) => job), swaps.map(({ promoted }) => promoted.job))
          assert.sameMembers(swapped.displaced.map(({ job }) => job), swaps.map(({ displaced }) => displaced.job))
          const byId = (changed: ReadonlyArray<Leases.StoredJob>) => new Map(changed.map((job) => [job.job, job]))
          const moved = byId(swaps.flatMap(({ displaced, promoted }) => [displaced, promoted]))
          const exchanged = jobs.map((job) => moved.get(job.job) ?? job)
          const changedLanes = new Set(swaps.map(({ promoted }) => promoted.lane))
          const restamped = byId(
            lanes.filter((lane) => changedLanes.has(lane)).flatMap((lane) =>
              restamp(exchanged.filter((job) => job.lane === lane && job.state !== "pending"), {
                weight: 1,
                limit: undefined
              })
            )
          )
          const after = exchanged.map((job) => restamped.get(job.job) ?? job)
          assert.deepStrictEqual(yield* readJobs, after)

          const next = lanes.map((lane, index) =>
            Swaps.nextInLine(
              after.filter((job) => job.lane === lane && job.state === "pending"),
              offered,
              counts[index]!
            )
          )
          const promotions = lanes
            .map((lane, index) => ({ lane, count: next[index]!.length, ahead: 0, weight: 1, beside: [] }))
            .filter(({ count }) => count > 0)
          const changes = { ...noChanges, promotions }
          const applied = yield* atomically(store.apply(changes))
          assert.sameMembers([...applied.promoted], next.flat().map(({ job }) => job))
          assert.sameMembers([...applied.kinds!], next.flat().map(({ kind }) => kind))
        }),
      { arbitrary: { runs } }
    )
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type World = Effect.Success<typeof makeWorld>

const laneIds = (lane: string) => [0, 1, 2].map((index) => `${lane}-${index}`)

const emptyLane = (lane: string, group: string): LaneCounters => ({
  lane,
  group,
  cap: 0,
  held: 0,
  waiting: 0,
  heldMax: 0,
  weight: 1
})

/** The table rejects lanes in which a job waits beside a free slot. */
const laneOf = (lane: string, group: string, counters: typeof Counters.Type): LaneCounters => ({
  ...emptyLane(lane, group),
  ...counters,
  waiting: counters.held < counters.cap ? 0 : counters.waiting
})

const jobOf = (
  world: World,
  small: typeof Job.Type,
  index: number,
  kinds: ReadonlyArray<string>
): Leases.StoredJob => {
  const isRunning = small.state === "running"
  return {
    job: world.id(),
    lane: `${world.lane}-${small.lane}`,
    // The jobs of a lane have one group. A claim reads the column of the job, not that of the lane.
    group: small.lane === 2 ? otherGroup(world) : world.group,
    kind: kinds[small.kind]!,
    payload: { n: index },
    state: small.state,
    epoch: isRunning ? small.epoch + 1 : small.epoch,
    // Only a claimed job is released, so an attempt is there to take back.
    attempt: isRunning ? small.attempt + 1 : small.attempt,
    attemptsMax: small.attemptsMax + 1,
    failures: index % 3,
    uniqueKey: index % 2 === 0 ? undefined : `key-${index}`,
    // Distinct, so that the order in which jobs exceed it is defined.
    timeLimit: small.timeLimitSeconds < 0 ? undefined : 1_000 * small.timeLimitSeconds + index,
    checkpoint: small.checkpoint === "none" ? Option.none() : Option.some(small.checkpoint),
    resumable: small.resumable,
    enqueuedAt: seconds(-100 + index),
    startedAt: isRunning || small.hasStarted ? seconds(-50) : undefined,
    lease: isRunning && small.lease !== "own" ? `lease-${small.lease}` : undefined,
    leaseUntil: isRunning && small.lease === "own" ? seconds(small.leaseSeconds) : undefined,
    worker: isRunning ? `worker-${index}` : undefined,
    aloneFrom: small.aloneSeconds === "none" ? undefined : seconds(small.aloneSeconds),
    position: 1_000_000 - 10 * index,
    share: small.share,
    priority: small.priority,
    ownPosition: small.isMoved && small.state !== "pending" ? 1_000_005 - 20 * index : undefined
  }
}

/** A queued job without further properties. */
const idle = {
  state: "queued",
  epoch: 0,
  attempt: 0,
  attemptsMax: 2,
  checkpoint: "none",
  resumable: false,
  timeLimitSeconds: -1,
  lease: "gone",
  leaseSeconds: 0,
  aloneSeconds: "none"
} as const

const otherGroup = ({ group }: World) => `${group}-other`

/** The first `count` kinds, and the resumable jobs of the others or of none. */
const selectedOf = (
  kinds: ReadonlyArray<string>,
  { hasResumable, kinds: count }: { readonly hasResumable: boolean; readonly kinds: number }
) => ({ kinds: kinds.slice(0, count), resumableKinds: hasResumable ? kinds.slice(count) : [] })

const termsOf = (own: number) => ({ lease: `lease-${own}`, worker: "worker" })

const workerOf = (small: typeof Worker.Type, index: number, kinds: ReadonlyArray<string>): Rules.StoredWorker => ({
  id: `worker-${index}`,
  worker: "test",
  kinds: [kinds[small.kind]!],
  slots: index + 1,
  until: seconds(small.seconds),
  lease: small.hasLease ? `lease-${index}` : undefined,
  startedAt: small.hasLease ? seconds(-index) : undefined,
  drains: small.kind === 2
})

const clear = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DELETE FROM scheduler_worker`
  yield* sql`DELETE FROM scheduler_job`
  yield* sql`DELETE FROM scheduler_lane`
  yield* sql`DELETE FROM scheduler_group`
})

const insertLanes = Effect.fnUntraced(function*(group: string, lanes: ReadonlyArray<LaneCounters>, waiting: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`INSERT INTO scheduler_group (id, waiting) VALUES (${group}, ${waiting})`
  yield* sql`INSERT INTO scheduler_lane ${
    Rows.unnest(lanes, {
      id: ["text", ({ lane }) => lane],
      group_id: ["text", ({ group }) => group],
      cap: ["int4", ({ cap }) => cap],
      held: ["int4", ({ held }) => held],
      waiting: ["int4", ({ waiting }) => waiting],
      held_max: ["int4", ({ heldMax }) => heldMax],
      weight: ["int4", ({ weight }) => weight]
    })
  }`
})

const insertJobs = Effect.fnUntraced(function*(jobs: ReadonlyArray<Leases.StoredJob>) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`INSERT INTO scheduler_job ${
    Rows.unnest(jobs, {
      id: ["uuid", ({ job }) => job],
      lane_id: ["text", ({ lane }) => lane],
      group_id: ["text", ({ group }) => group],
      kind: ["text", ({ kind }) => kind],
      payload: ["json", ({ payload }) => payload],
      checkpoint: ["json?", ({ checkpoint }) => Option.getOrNull(checkpoint)],
      resumable: ["boolean", ({ resumable }) => resumable],
      state: ["text", ({ state }) => state],
      position: ["int8", ({ position }) => position],
      epoch: ["int4", ({ epoch }) => epoch],
      attempt: ["int4", ({ attempt }) => attempt],
      failures: ["int4", ({ failures }) => failures],
      attempts_max: ["int4", ({ attemptsMax }) => attemptsMax],
      time_limit_ms: ["int8?", ({ timeLimit }) => timeLimit],
      enqueued_at: ["timestamptz", ({ enqueuedAt }) => enqueuedAt],
      started_at: ["timestamptz?", ({ startedAt }) => startedAt],
      lease: ["text?", ({ lease }) => lease],
      lease_until: ["timestamptz?", ({ leaseUntil }) => leaseUntil],
      alone_from: ["timestamptz?", ({ aloneFrom }) => aloneFrom],
      worker: ["text?", ({ worker }) => worker],
      share: ["float8", ({ share }) => share],
      unique_key: ["text?", ({ uniqueKey }) => uniqueKey],
      priority: ["int4", ({ priority }) => priority],
      own_position: ["int8?", ({ ownPosition }) => ownPosition]
    })
  }`
})

const lastPosition = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  // Drawn, so that the sequence has a value.
  const [row] = yield* decodePosition(sql`SELECT nextval('scheduler_position') AS position`)
  return Number(row!.position)
})

const decodePosition = Rows.decodeAll(Schema.Struct({ position: Schema.BigInt }))

const insertWorkers = Effect.fnUntraced(function*(workers: ReadonlyArray<Rules.StoredWorker>) {
  const sql = yield* SqlClient.SqlClient
  for (const { drains, id, kinds, lease = null, slots, startedAt, until, worker } of workers) {
    const started = startedAt === undefined ? null : DateTime.toDate(startedAt)
    yield* sql`
      INSERT INTO scheduler_worker (id, name, kinds, slots, until, lease, started_at, draining)
      VALUES (
        ${id}, ${worker}, ${Rows.array("text", kinds)}, ${slots}, ${
      DateTime.toDate(until)
    }, ${lease}, ${started}, ${drains}
      )
    `
  }
})

const Row = Schema.Struct({
  job: Schema.String,
  lane: Schema.String,
  group: Schema.String,
  kind: Schema.String,
  payload: Schema.Json,
  checkpoint: Schema.Json,
  resumable: Schema.Boolean,
  state: Schema.Literals(["pending", "queued", "running"]),
  position: Schema.BigInt,
  share: Schema.Number,
  epoch: Schema.Int,
  attempt: Schema.Int,
  attemptsMax: Schema.Int,
  failures: Schema.Int,
  timeLimit: Schema.NullOr(Schema.BigInt),
  enqueuedAt: Schema.DateTimeUtcFromDate,
  startedAt: Schema.NullOr(Schema.DateTimeUtcFromDate),
  lease: Schema.NullOr(Schema.String),
  leaseUntil: Schema.NullOr(Schema.DateTimeUtcFromDate),
  aloneFrom: Schema.NullOr(Schema.DateTimeUtcFromDate),
  worker: Schema.NullOr(Schema.String),
  uniqueKey: Schema.NullOr(Schema.String),
  priority: Schema.Int,
  ownPosition: Schema.NullOr(Schema.BigInt)
})

const decodeRows = Rows.decodeAll(Row)

/** All jobs of the table, ordered by id. */
const readJobs = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* decodeRows(sql`
    SELECT
      id AS job, lane_id AS lane, group_id AS "group", kind, payload, checkpoint, resumable, state, position, share, epoch, attempt,
      attempts_max AS "attemptsMax", failures, time_limit_ms AS "timeLimit", enqueued_at AS "enqueuedAt",
      started_at AS "startedAt", lease, lease_until AS "leaseUntil", alone_from AS "aloneFrom", worker, unique_key AS "uniqueKey",
      priority, own_position AS "ownPosition"
    FROM scheduler_job
    ORDER BY id
  `)
  return rows.map((row): Leases.StoredJob => ({
    ...row,
    checkpoint: Option.fromNullOr(row.checkpoint),
    position: Number(row.position),
    timeLimit: row.timeLimit === null ? undefined : Number(row.timeLimit),
    startedAt: row.startedAt ?? undefined,
    lease: row.lease ?? undefined,
    leaseUntil: row.leaseUntil ?? undefined,
    aloneFrom: row.aloneFrom ?? undefined,
    worker: row.worker ?? undefined,
    uniqueKey: row.uniqueKey ?? undefined,
    ownPosition: row.ownPosition === null ? undefined : Number(row.ownPosition)
  }))
})

const WorkerRow = Schema.Struct({
  id: Schema.String,
  worker: Schema.String,
  kinds: Schema.Array(Schema.String),
  slots: Schema.Int,
  until: Schema.DateTimeUtcFromDate,
  lease: Schema.NullOr(Schema.String),
  startedAt: Schema.NullOr(Schema.DateTimeUtcFromDate),
  drains: Schema.Boolean
})

const decodeWorkers = Rows.decodeAll(WorkerRow)

/** All workers of the table, ordered by id. */
const readWorkers = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* decodeWorkers(sql`
    SELECT id, name AS worker, kinds, slots, until, lease, started_at AS "startedAt", draining AS drains FROM scheduler_worker ORDER BY id
  `)
  return rows.map((row): Rules.StoredWorker => ({
    ...row,
    lease: row.lease ?? undefined,
    startedAt: row.startedAt ?? undefined
  }))
})
