/** The rules of lanes against a model that keeps lists instead of counters. */
import { assert, it } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence"
import { Effect, Result, Schema } from "effect"
import { TestClock } from "effect/testing"
import { ids, makeWorld } from "../src/internal/contract/world.ts"
import * as Loaded from "../src/internal/loadedLanes.ts"
import type { Lease } from "../src/Job.ts"
import * as Lanes from "../src/Lanes.ts"
import { Scheduler } from "../src/Scheduler.ts"
import { memory } from "./Fixture.ts"

const lanesOfGroup = ["a", "b", "c"]
const waitingMax = 4
const attemptsMax = 2

const Lane = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 }))
const Cap = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 3 }))
/** Which of the jobs that there are; taken modulo their number. */
const Pick = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 50 }))

const Caps = Schema.Tuple([Cap, Cap, Cap])

const Weight = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 3 }))
const Weights = Schema.Tuple([Weight, Weight, Weight])

const Command = Schema.Union([
  Schema.TaggedStruct("enqueue", { lane: Lane }),
  Schema.TaggedStruct("cancel", { pick: Pick }),
  Schema.TaggedStruct("settle", { pick: Pick }),
  Schema.TaggedStruct("settleStale", { pick: Pick })
])

/** The commands of one unit: several commands under the same caps, or one that changes a cap. */
const Unit = Schema.Union([
  Schema.TaggedStruct("several", {
    caps: Caps,
    weights: Weights,
    commands: Schema.Array(Command).check(Schema.isMaxLength(5))
  }),
  Schema.TaggedStruct("enqueueWith", { lane: Lane, cap: Cap, weight: Weight })
])

const Work = Schema.Union([
  Schema.TaggedStruct("claim", { limit: Cap }),
  Schema.TaggedStruct("claim", { limit: Cap }),
  Schema.TaggedStruct("release", { pick: Pick }),
  Schema.TaggedStruct("loseWorkers", {})
])

const Story = Schema.Array(Schema.Tuple([Unit, Work])).check(Schema.isMaxLength(40))

interface ModelJob {
  readonly job: string
  readonly lane: string
  state: "pending" | "queued" | "running"
  epoch: number
  attempt: number
  /** Whether its next attempt is the last one, which runs alone. */
  alone?: boolean
}

/** A model of the scheduler: a list of jobs by age, in which the slots of a lane belong to its oldest jobs. */
class Model {
  readonly jobs: Array<ModelJob> = []
  readonly caps = new Map<string, number>()
  readonly weights = new Map<string, number>()

  ofLane(lane: string, ...states: ReadonlyArray<ModelJob["state"]>) {
    return this.jobs.filter((job) => job.lane === lane && states.includes(job.state))
  }
  get waiting() {
    return this.jobs.filter(({ state }) => state === "pending").length
  }
  capOf(lane: string) {
    return this.caps.get(lane) ?? 0
  }
  hasSlot(lane: string) {
    return this.ofLane(lane, "queued", "running").length < this.capOf(lane)
  }
  promote(lane: string) {
    for (const job of this.ofLane(lane, "pending")) if (this.hasSlot(lane)) job.state = "queued"
  }
  setCap(lane: string, cap: number) {
    this.caps.set(lane, cap)
    this.promote(lane)
  }
  /** The new job's state; `undefined`, and nothing changed, when the queue is full. */
  enqueue(job: string, lane: string, cap: number): ModelJob["state"] | undefined {
    const before = { cap: this.capOf(lane), states: this.jobs.map(({ state }) => state) }
    this.setCap(lane, cap)
    const state = this.hasSlot(lane) ? "queued" : "pending"
    if (state === "pending" && this.waiting >= waitingMax) {
      this.caps.set(lane, before.cap)
      this.jobs.forEach((job, index) => Object.assign(job, { state: before.states[index] }))
      return undefined
    }
    this.jobs.push({ job, lane, state, epoch: 0, attempt: 0 })
    return state
  }
  /** The jobs of its lane that got a slot before a job, per weight. Jobs that have started come first. */
  shareOf(job: ModelJob) {
    const ahead = this.ofLane(job.lane, "queued", "running").indexOf(job)
    return job.epoch > 0 ? 0 : ahead / (this.weights.get(job.lane) ?? 1)
  }
  end(job: ModelJob) {
    this.jobs.splice(this.jobs.indexOf(job), 1)
    this.promote(job.lane)
  }
}

it.effect.prop(
  "lanes behave like a list of jobs by age, in random sequences of operations",
  [Story],
  ([story]) =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const { atomically } = yield* UnitOfWork.UnitOfWork
      const world = yield* makeWorld
      const model = new Model()
      /** The leases that workers have taken, also those that they have lost. */
      let leases: ReadonlyArray<Lease> = []
      const lanes = lanesOfGroup.map((lane) => `${world.lane}-${lane}`)
      const holderOf = ({ epoch, job }: Lease) =>
        model.jobs.find((found) => found.job === job && found.state === "running" && found.epoch === epoch)

      const enqueue = (open: Lanes.Lanes, lane: number, cap: number, weight: number) => {
        const command = world.job({ lane: lanes[lane]!, cap, weight, waitingMax, attemptsMax })
        const result = Lanes.enqueue(open, command)
        const expected = model.enqueue(command.job, command.lane, cap)
        assert.strictEqual(Result.isSuccess(result) ? result.success.value.state : undefined, expected)
        if (Result.isFailure(result)) return open
        model.weights.set(command.lane, weight)
        return result.success.state
      }
      const cancel = (open: Lanes.Lanes, pick: number) => {
        const found = model.jobs[pick % Math.max(1, model.jobs.length)]
        const result = Lanes.cancel(open, found?.job ?? world.id())
        const expected = found === undefined ? "NotFound" : found.epoch > 0 ? "AlreadyRunning" : undefined
        assert.strictEqual(Result.isFailure(result) ? result.failure._tag : undefined, expected)
        if (Result.isFailure(result)) return open
        model.end(found!)
        return result.success.state
      }
      const settle = (open: Lanes.Lanes, { epoch, job }: Lease) => {
        const found = holderOf({ job, epoch })
        const result = Lanes.settle(open, { job, epoch })
        assert.strictEqual(Result.isSuccess(result), found !== undefined)
        if (Result.isFailure(result)) return open
        model.end(found!)
        return result.success.state
      }

      const decide = Effect.fnUntraced(function*(unit: typeof Unit.Type) {
        let open = yield* scheduler.load({
          lanes: lanes.map((lane) => ({ lane, group: world.group })),
          jobs: model.jobs.map(({ job, lane }) => ({ job, lane, group: world.group }))
        })
        const pending = new Set(model.jobs.filter(({ state }) => state === "pending").map(({ job }) => job))
        if (unit._tag === "enqueueWith") open = enqueue(open, unit.lane, unit.cap, unit.weight)
        else {
          lanes.forEach((lane, index) => {
            open = Loaded.setCap(open, { lane, cap: unit.caps[index]!, weight: unit.weights[index]! })
            model.weights.set(lane, unit.weights[index]!)
            model.setCap(lane, unit.caps[index]!)
          })
          for (const command of unit.commands) {
            const { caps, weights } = unit
            if (command._tag === "enqueue") {
              open = enqueue(open, command.lane, caps[command.lane]!, weights[command.lane]!)
            } else if (command._tag === "cancel") open = cancel(open, command.pick)
            else {
              const lease = leases[command.pick % Math.max(1, leases.length)]
              if (lease === undefined) continue
              open = settle(open, command._tag === "settle" ? lease : { ...lease, epoch: lease.epoch - 1 })
            }
          }
        }
        const { promoted } = yield* scheduler.save(open)
        const holders = new Set(model.jobs.filter(({ state }) => state !== "pending").map(({ job }) => job))
        assert.isTrue(promoted.every((job) => holders.has(job)))
        assert.isTrue(Array.from(pending).every((job) => !holders.has(job) || promoted.includes(job)))
      }, atomically)

      const claim = Effect.fnUntraced(function*(limit: number) {
        const queued = model.jobs.filter(({ state }) => state === "queued")
        const together = queued.filter(({ alone = false }) => !alone)
        const shares = new Map(together.map((job) => [job.job, model.shareOf(job)]))
        const claimed = yield* world.claim({ limit })
        assert.deepStrictEqual(
          claimed.map(({ job }) => shares.get(job)),
          Array.from(shares.values()).toSorted((a, b) => a - b).slice(0, limit)
        )
        const alone = yield* world.claim({ limit, alone: true })
        assert.strictEqual(alone.length, Math.min(1, limit, queued.length - together.length))
        for (const lease of [...claimed, ...alone]) {
          // Of its lane it is the oldest that was left.
          const isAlone = alone.includes(lease)
          const oldest = model.ofLane(lease.lane, "queued").find(({ alone = false }) => alone === isAlone)!
          Object.assign(oldest, { state: "running", epoch: oldest.epoch + 1, attempt: oldest.attempt + 1 })
          assert.deepStrictEqual(
            [lease.job, lease.epoch, lease.attempt],
            [oldest.job, oldest.epoch, oldest.attempt]
          )
        }
        leases = [...leases, ...claimed, ...alone]
      })
      const release = Effect.fnUntraced(function*(lease: Lease) {
        yield* scheduler.release([lease])
        const found = holderOf(lease)
        if (found !== undefined) Object.assign(found, { state: "queued", attempt: found.attempt - 1 })
      })
      const loseWorkers = Effect.gen(function*() {
        yield* TestClock.adjust("30 seconds")
        const { exhausted, requeued } = yield* world.rescue({ limit: 1_000 })
        const lost = model.jobs.filter(({ state }) => state === "running")
        const last = lost.filter(({ attempt }) => attempt >= attemptsMax)
        const others = lost.filter((job) => !last.includes(job))
        assert.sameMembers(ids(exhausted), ids(last))
        assert.sameMembers(ids(requeued), ids(others))
        for (const job of last) job.epoch++
        for (const job of others) Object.assign(job, { state: "queued", alone: job.attempt + 1 >= attemptsMax })
        yield* TestClock.adjust("10 seconds")
        leases = [...leases, ...exhausted]
      })

      for (const [unit, work] of story) {
        yield* decide(unit)
        const lease = work._tag === "release" ? leases[work.pick % Math.max(1, leases.length)] : undefined
        if (work._tag === "claim") yield* claim(work.limit)
        else if (work._tag === "loseWorkers") yield* loseWorkers
        else if (lease !== undefined) yield* release(lease)
        const found = yield* scheduler.find(ids(model.jobs))
        assert.deepStrictEqual(
          found.map(({ attempt, epoch, job, state }) => ({ job, state, epoch, attempt })),
          model.jobs.map(({ attempt, epoch, job, state }) => ({ job, state, epoch, attempt }))
        )
        assert.deepStrictEqual(yield* scheduler.verify, [])
      }
    }).pipe(Effect.provide(memory)),
  { arbitrary: { runs: 300 } }
)
