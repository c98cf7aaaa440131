/** The SQL statements follow the same rules as the pure functions, in random states. */
import { assert, layer } from "@effect/vitest"
import type * as Decision from "@kinora/persistence/Decision"
import * as Rows from "@kinora/persistence/Rows"
import { DateTime, Effect, type Layer, Option, Result, Schema } from "effect"
import { SqlClient } from "effect/sql"
import * as Audit from "../src/internal/audit.ts"
import * as Leases from "../src/internal/leases.ts"
import type { LaneCounters } from "../src/internal/loadedLanes.ts"
import * as Queues from "../src/internal/queues.ts"
import type { ClaimTerms, Offer } from "../src/internal/storeTypes.ts"
import { SchedulerStore } from "../src/SchedulerStore.ts"
import { type Backend, makeWorld } from "./Fixture.ts"

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
  hasStarted: Schema.Boolean,
  timeLimitSeconds: Schema.Literals([-1, 0, 49, 51]),
  leaseSeconds: Schema.Literals([-2, -1, 0, 1, 2])
})

const Jobs = Schema.Array(Job).check(Schema.isMaxLength(8))

const Lease = Schema.Struct({ pick: Few(8), epoch: Few(4), checkpoint: Schema.NullOr(Schema.Literals(["b", "c"])) })

const Command = Schema.Union([
  Schema.TaggedStruct("claim", { limit: Few(4), kinds: Schema.Literals([1, 2, 3]) }),
  Schema.TaggedStruct("rescue", { limit: Few(4), kinds: Schema.Literals([1, 2]) }),
  Schema.TaggedStruct("heartbeat", { lease: Lease }),
  Schema.TaggedStruct("checkpoint", { lease: Lease }),
  Schema.TaggedStruct("release", { lease: Lease, pool: Schema.optionalKey(Schema.Literals(["pool", "other"])) }),
  Schema.TaggedStruct("expireFirst", {})
])

const Offers = Schema.Array(
  Schema.Struct({
    id: Few(3),
    kind: Schema.Literals([0, 1, 2]),
    minutes: Schema.Literals([-11, -10, -1, 0, 1]),
    slots: Few(3)
  })
).check(Schema.isMaxLength(5))

const Counters = Schema.Struct({ cap: Few(3), held: Few(4), waiting: Few(3), heldMax: Few(4) })

const Lanes = Schema.Tuple([Counters, Counters, Counters])

/** Far from the times of other tests, whose first attempts `expireFirst` expires too. */
const now = DateTime.makeUnsafe("2040-01-01T00:00:00Z")
const until = DateTime.add(now, { seconds: 30 })
const seconds = (count: number) => DateTime.add(now, { seconds: count })

export const suite = <E>(name: string, backend: Layer.Layer<Backend | SqlClient.SqlClient, E>) =>
  layer(backend)(`Rules in SQL (${name})`, (it) => {
    it.effect.prop(
      "claims, rescues and changes under a lease do to the rows what the rules say",
      [Jobs, Schema.Array(Command).check(Schema.isMaxLength(6))],
      ([smalls, commands]) =>
        Effect.gen(function*() {
          const store = yield* SchedulerStore
          const world = yield* makeWorld
          const bases = [`${world.kind.name}-0`, `${world.kind.name}-1`]
          const kinds = [bases[0]!, bases[1]!, `${bases[0]}:pool`]
          yield* clear
          yield* insertLanes(world.group, laneIds(world.lane).map((lane) => emptyLane(lane, world.group)), 0)
          yield* insertJobs(smalls.map((small, index) => jobOf(world, small, index, kinds)))
          let jobs = yield* readJobs
          for (const command of commands) {
            const terms = (limit: number, kinds: ReadonlyArray<string>): ClaimTerms => ({
              worker: "worker",
              kinds,
              limit,
              now,
              until
            })
            const change = (changed: ReadonlyArray<Leases.StoredJob>) => {
              const byId = new Map(changed.map((job) => [job.job, job]))
              jobs = jobs.map((job) => byId.get(job.job) ?? job)
            }
            const underLease = (
              decided: Decision.Decision<Leases.StoredJob, void, unknown>,
              held: ReadonlyArray<string>
            ) => {
              assert.strictEqual(held.length === 1, Result.isSuccess(decided))
              if (Result.isSuccess(decided)) change([decided.success.state])
            }
            if (command._tag === "claim") {
              const given = terms(command.limit, kinds.slice(0, command.kinds))
              const expected = Leases.claim(jobs, given)
              const claimed = yield* store.claim(given)
              assert.deepStrictEqual(claimed, expected.map(Leases.toClaimed))
              change(expected)
            } else if (command._tag === "rescue") {
              const given = terms(command.limit, bases.slice(0, command.kinds))
              const expected = Leases.rescue(jobs, given)
              const rescued = yield* store.rescue(given)
              assert.deepStrictEqual(rescued, {
                requeued: expected.requeued.map(({ group, job, lane }) => ({ job, lane, group })),
                exhausted: expected.exhausted.map(Leases.toClaimed)
              })
              change([...expected.requeued, ...expected.exhausted])
            } else if (command._tag === "expireFirst") {
              const expected = Leases.expireFirst(jobs, now)
              assert.strictEqual(yield* store.expireFirstLeases(now), expected.length)
              change(expected)
            } else {
              const found = jobs[command.lease.pick]
              const { checkpoint, epoch } = command.lease
              const lease = { job: found?.job ?? world.id(), epoch }
              if (command._tag === "heartbeat") {
                underLease(Leases.heartbeat(found, lease, until), yield* store.heartbeat([lease], until))
              } else if (command._tag === "release") {
                const release = { ...lease, pool: command.pool }
                underLease(Leases.release(found, release), yield* store.release([release]))
              } else {
                const held = yield* store.checkpoint([{ ...lease, checkpoint }])
                underLease(Leases.checkpoint(found, lease, checkpoint), held)
              }
            }
            assert.deepStrictEqual(yield* readJobs, jobs)
          }
        }),
      { arbitrary: { runs } }
    )

    it.effect.prop(
      "queues and offers return what the rules do, and offers are deleted when the rules say so",
      [Jobs, Offers],
      ([smalls, smallOffers]) =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const store = yield* SchedulerStore
          const world = yield* makeWorld
          yield* clear
          yield* sql`DELETE FROM scheduler_worker`
          yield* insertLanes(world.group, laneIds(world.lane).map((lane) => emptyLane(lane, world.group)), 0)
          const kinds = ["a", "B:pool", "b"]
          yield* insertJobs(smalls.map((small, index) => jobOf(world, small, index, kinds)))
          let offers: ReadonlyArray<Offer> = []
          for (const { id, kind, minutes, slots } of smallOffers) {
            const offer = {
              id: `worker-${id}`,
              worker: "test",
              kinds: [kinds[kind]!, "c"],
              slots: slots + 1,
              until: DateTime.add(now, { minutes })
            }
            yield* store.announce(offer, now)
            offers = [...offers.filter((other) => other.id !== offer.id && !Queues.isOld(other, now)), offer]
          }
          assert.deepStrictEqual(yield* store.queues(now), Queues.queues(yield* readJobs, offers, now))
          assert.sameDeepMembers([...yield* store.offers(now)], [...Queues.held(offers, now)])
          const [count] = yield* sql`SELECT count(*)::int4 AS offers FROM scheduler_worker`
          assert.deepStrictEqual<unknown>(count, { offers: offers.length })
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
  heldMax: 0
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
    group: world.group,
    kind: kinds[small.kind]!,
    payload: { n: index },
    state: small.state,
    epoch: isRunning ? small.epoch + 1 : small.epoch,
    // Only a claimed job is released, so an attempt is there to take back.
    attempt: isRunning ? small.attempt + 1 : small.attempt,
    attemptsMax: small.attemptsMax + 1,
    // Distinct, so that the order in which jobs exceed it is defined.
    timeLimit: small.timeLimitSeconds < 0 ? undefined : 1_000 * small.timeLimitSeconds + index,
    checkpoint: small.checkpoint === "none" ? Option.none() : Option.some(small.checkpoint),
    enqueuedAt: seconds(-100 + index),
    startedAt: isRunning || small.hasStarted ? seconds(-50) : undefined,
    // Distinct, so that the order of expiry is defined.
    leaseUntil: isRunning ? DateTime.add(seconds(small.leaseSeconds), { milliseconds: -index }) : undefined,
    worker: isRunning ? `worker-${index}` : undefined,
    position: 1_000_000 - 10 * index
  }
}

const clear = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
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
      held_max: ["int4", ({ heldMax }) => heldMax]
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
      state: ["text", ({ state }) => state],
      position: ["int8", ({ position }) => position],
      epoch: ["int4", ({ epoch }) => epoch],
      attempt: ["int4", ({ attempt }) => attempt],
      attempts_max: ["int4", ({ attemptsMax }) => attemptsMax],
      time_limit_ms: ["int8?", ({ timeLimit }) => timeLimit],
      enqueued_at: ["timestamptz", ({ enqueuedAt }) => enqueuedAt],
      started_at: ["timestamptz?", ({ startedAt }) => startedAt],
      lease_until: ["timestamptz?", ({ leaseUntil }) => leaseUntil],
      worker: ["text?", ({ worker }) => worker]
    })
  }`
})

const Row = Schema.Struct({
  job: Schema.String,
  lane: Schema.String,
  group: Schema.String,
  kind: Schema.String,
  payload: Schema.Json,
  checkpoint: Schema.Json,
  state: Schema.Literals(["pending", "queued", "running"]),
  position: Schema.BigInt,
  epoch: Schema.Int,
  attempt: Schema.Int,
  attemptsMax: Schema.Int,
  timeLimit: Schema.NullOr(Schema.BigInt),
  enqueuedAt: Schema.DateTimeUtcFromDate,
  startedAt: Schema.NullOr(Schema.DateTimeUtcFromDate),
  leaseUntil: Schema.NullOr(Schema.DateTimeUtcFromDate),
  worker: Schema.NullOr(Schema.String)
})

const decodeRows = Rows.decodeAll(Row)

/** All jobs of the table, ordered by id. */
const readJobs = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* decodeRows(sql`
    SELECT
      id AS job, lane_id AS lane, group_id AS "group", kind, payload, checkpoint, state, position, epoch, attempt,
      attempts_max AS "attemptsMax", time_limit_ms AS "timeLimit", enqueued_at AS "enqueuedAt",
      started_at AS "startedAt", lease_until AS "leaseUntil", worker
    FROM scheduler_job
    ORDER BY id
  `)
  return rows.map((row): Leases.StoredJob => ({
    ...row,
    checkpoint: Option.fromNullOr(row.checkpoint),
    position: Number(row.position),
    timeLimit: row.timeLimit === null ? undefined : Number(row.timeLimit),
    startedAt: row.startedAt ?? undefined,
    leaseUntil: row.leaseUntil ?? undefined,
    worker: row.worker ?? undefined
  }))
})
