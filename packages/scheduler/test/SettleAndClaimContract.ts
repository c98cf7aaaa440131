/** Jobs that end, and the jobs in their slots, in one statement, compared with a unit that decides on lanes, and a claim after it. */
import { assert, layer } from "@effect/vitest"
import * as Decision from "@kinora/persistence/Decision"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Effect, type Layer, Result, Schema } from "effect"
import { ids, makeWorld } from "../src/internal/contract/world.ts"
import type { JobAddress, Lease } from "../src/Job.ts"
import * as JobKind from "../src/JobKind.ts"
import * as Lanes from "../src/Lanes.ts"
import * as Scheduler from "../src/Scheduler.ts"
import { SchedulerStore } from "../src/SchedulerStore.ts"
import type { Backend } from "./Fixture.ts"

const runs = 60

const Few = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum }))

const Enqueue = Schema.Struct({
  lane: Few(2),
  cap: Schema.Literals([1, 1, 2, 2, 2, 3]),
  weight: Schema.Literals([1, 2]),
  priority: Schema.Literals([0, 0, 0, 1, 2]),
  isOwn: Schema.Literals([true, true, true, true, false])
})

/** Ends every running job whose number is not a multiple of `kept`, some under another epoch. */
const End = Schema.Struct({
  kept: Schema.Literals([3, 100]),
  lost: Schema.Literals([3, 100, 100]),
  limit: Schema.Literals([0, 1, 9, 9, 9]),
  isHeld: Schema.Literals([true, true, true, true, true, false])
})

/** Enqueues, claims and ends jobs, so that most rounds end some. */
const Round = Schema.Struct({
  enqueued: Schema.Array(Enqueue).check(Schema.isMinLength(4), Schema.isMaxLength(10)),
  /** Mostly all. */
  claimed: Schema.Literals([1, 20, 20, 20]),
  /** The number of a job that returns to the queue, if it runs. */
  released: Few(60),
  /** The cap of a lane. */
  cap: Schema.Literals(["none", "none", "none", 0, 1, 4]),
  ended: End
})

/** Ends jobs, and claims jobs of the kind. Returns the number of those that could not be ended, and the claimed ones. */
type EndAndClaim = (
  ended: ReadonlyArray<Lease & JobAddress>,
  terms: {
    readonly lease: string
    readonly worker: string
    readonly kinds: ReadonlyArray<string>
    readonly limit: number
  },
  isAnyQueued: boolean
) => Effect.Effect<{ readonly left: ReadonlyArray<string>; readonly claimed: ReadonlyArray<Lease> }, unknown>

export const suite = <E>(name: string, backend: Layer.Layer<Backend, E>) =>
  layer(backend)(`Jobs that end in one statement (${name})`, (it) => {
    it.effect.prop(
      "give their slots to the jobs that get them in a unit, which are leased if a claim would return them next",
      [Schema.Array(Round).check(Schema.isMinLength(2), Schema.isMaxLength(5))],
      ([rounds]) =>
        Effect.gen(function*() {
          const direct = yield* runAll(rounds, yield* inOneStatement)
          assert.deepStrictEqual(direct, yield* runAll(rounds, yield* underLocks))
        }),
      { arbitrary: { runs } }
    )
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Runs commands in lanes of their own, and returns what can be seen after each. Jobs are numbered. */
const runAll = Effect.fnUntraced(function*(rounds: ReadonlyArray<typeof Round.Type>, end: EndAndClaim) {
  const scheduler = yield* Scheduler.Scheduler
  const world = yield* makeWorld
  const other = JobKind.make({ name: `${world.kind.name}-other`, payload: Schema.Struct({ n: Schema.Int }) })
  const kinds = [world.kind.name]
  const lanes = [0, 1, 2].map((n) => ({ lane: `${world.lane}-${n}`, group: n < 2 ? world.group : `${world.group}-2` }))
  const worker = { id: world.lane, worker: "test", kinds: [...kinds, other.name], slots: 1 }
  const lease = yield* scheduler.takeLease({ ...worker, ttl: "1 hour" })
  const terms = { lease, worker: "test", kinds }
  const added: Array<string> = []
  const numberOf = (id: string) => added.indexOf(id)
  const claim = (limit: number) => Effect.map(scheduler.claim({ ...terms, limit }), (jobs) => ids(jobs).map(numberOf))
  const log: Array<unknown> = []
  for (const { cap, claimed, ended, enqueued, released } of rounds) {
    for (const { isOwn, lane, ...options } of enqueued) {
      const job = world.job({ ...options, ...lanes[lane]!, kind: isOwn ? world.kind : other, waitingMax: Infinity })
      added.push(job.job)
      yield* scheduler.enqueue(job)
    }
    log.push(yield* claim(claimed))
    if (cap !== "none") yield* scheduler.setCap({ ...lanes[1]!, cap })
    const found = yield* scheduler.find(added)
    const returned = found.filter(({ job, state }) => state === "running" && numberOf(job) === released)
    if (returned.length > 0) yield* scheduler.release(returned)
    const running = found.filter((job) => job.state === "running" && !returned.includes(job))
    const given = running
      .filter(({ job }) => (numberOf(job) + 1) % ended.kept !== 0)
      .map((job) => ({ ...job, epoch: job.epoch + ((numberOf(job.job) + 1) % ended.lost === 0 ? 1 : 0) }))
    const isAnyQueued = (yield* scheduler.find(added)).some(({ kind, state }) =>
      state === "queued" && kinds.includes(kind)
    )
    const asked = { ...terms, limit: ended.limit, lease: ended.isHeld ? lease : "gone" }
    const done = yield* end(given, asked, isAnyQueued)
    log.push(
      done.left.map(numberOf).toSorted((a, b) => a - b),
      done.claimed.map(({ epoch, job }) => `${numberOf(job)}/${epoch}`),
      yield* seen(lanes, added)
    )
    assert.deepStrictEqual(yield* scheduler.verify, [])
  }
  // The order in which jobs are claimed depends on their shares.
  for (const lane of lanes) yield* scheduler.setCap({ ...lane, cap: 20 })
  log.push(yield* claim(50))
  return log
})

/** The counters of the lanes, and the jobs. */
const seen = Effect.fnUntraced(function*(lanes: ReadonlyArray<Omit<JobAddress, "job">>, jobs: ReadonlyArray<string>) {
  const store = yield* SchedulerStore
  const scheduler = yield* Scheduler.Scheduler
  const counters = yield* Effect.forEach(lanes, ({ group, lane }) => store.peek(lane, group))
  const found = yield* scheduler.find(jobs)
  return [
    counters.map(({ group, lane }) =>
      [lane.cap, lane.held, lane.waiting, lane.heldMax, lane.weight, group.waiting].join()
    ),
    found.map(({ attempt, epoch, job, state }) => [jobs.indexOf(job), state, epoch, attempt].join()).toSorted()
  ]
})

const inOneStatement = Effect.map(
  Scheduler.Scheduler,
  ({ settleAndClaim }): EndAndClaim => (ended, terms) => settleAndClaim(ended, terms)
)

/** Decides on lanes in one unit, and claims after it. */
const underLocks = Effect.gen(function*() {
  const scheduler = yield* Scheduler.Scheduler
  const { atomically } = yield* UnitOfWork
  const settle = Effect.fnUntraced(function*(ended: ReadonlyArray<Lease & JobAddress>) {
    const { results, state } = Decision.all(yield* scheduler.load({ jobs: ended }), ended, Lanes.settle)
    yield* scheduler.save(state)
    return ended.filter((_, index) => Result.isFailure(results[index]!)).map(({ job }) => job)
  }, atomically)
  const end: EndAndClaim = Effect.fnUntraced(function*(ended, terms, isAnyQueued) {
    const left = yield* settle(ended)
    const queues = yield* scheduler.queues
    const queued = queues.find(({ kind }) => terms.kinds.includes(kind))?.queued ?? 0
    // A set without jobs is not sent.
    const isClaiming = ended.length > 0 && !isAnyQueued && queued <= terms.limit
    return { left, claimed: isClaiming ? yield* scheduler.claim(terms) : [] }
  })
  return end
})
