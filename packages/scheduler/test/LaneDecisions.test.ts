/** Decisions on lanes are pure functions of immutable lanes. */
import { assert, it } from "@effect/vitest"
import * as Decision from "@kinora/persistence/Decision"
import { Effect, Result, Schema } from "effect"
import { changesOf } from "../src/internal/laneChanges.ts"
import * as Loaded from "../src/internal/loadedLanes.ts"
import type { JobAddress, JobStatus } from "../src/Job.ts"
import * as JobKind from "../src/JobKind.ts"
import * as Lanes from "../src/Lanes.ts"
import type { SchedulerErrorReason } from "../src/SchedulerError.ts"

const Small = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 4 }))
const Pick = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 20 }))

const LaneIndex = Schema.Literals([0, 1])

const Start = Schema.Struct({
  caps: Schema.Tuple([Small, Small]),
  jobs: Schema.Array(Schema.Struct({ lane: LaneIndex, started: Schema.Boolean })).check(Schema.isMaxLength(6)),
  /** Whether the caps were lowered while jobs held slots. */
  lowered: Schema.Boolean
})

const Command = Schema.Union([
  Schema.TaggedStruct("enqueue", { lane: LaneIndex, cap: Small, waitingMax: Small }),
  Schema.TaggedStruct("cancel", { pick: Pick }),
  Schema.TaggedStruct("settle", { pick: Pick }),
  Schema.TaggedStruct("setCap", { lane: LaneIndex, cap: Small })
])

/** A command, and whether its decision is adopted. */
const Step = Schema.Struct({ command: Command, isAdopted: Schema.Boolean })

const group = "group"
const laneId = (index: number) => `lane-${index}`
const jobId = (index: number) => `job-${index}`
const kind = JobKind.make({ name: "kind", payload: Schema.Null })

/** Lanes in which jobs got slots in order, and the number of their jobs. */
const lanesOf = ({ caps, jobs, lowered }: typeof Start.Type): Lanes.Lanes => {
  const held = [0, 0]
  const waiting = [0, 0]
  const places = jobs.map(({ lane, started }, index): Loaded.JobPlace => {
    const hasSlot = held[lane]! < caps[lane]
    const state: JobStatus["state"] = !hasSlot ? "pending" : started ? "running" : "queued"
    const counts = hasSlot ? held : waiting
    counts[lane]!++
    return {
      job: jobId(index),
      lane: laneId(lane),
      group,
      state,
      epoch: state === "running" ? 1 : 0,
      uniqueKey: undefined
    }
  })
  const lanes = caps.map((before, index): Loaded.LaneCounters => {
    const cap = lowered ? Math.floor(before / 2) : before
    const heldMax = Math.max(cap, held[index]!)
    return { lane: laneId(index), group, cap, held: held[index]!, waiting: waiting[index]!, heldMax, weight: 1 }
  })
  return Loaded.fromState(
    { groups: [{ group, waiting: waiting[0]! + waiting[1]! }], lanes, jobs: places },
    { waitingMax: 20, attemptsMax: 3 }
  )
}

const decide = (
  lanes: Lanes.Lanes,
  command: typeof Command.Type,
  index: number
): Decision.Decision<Lanes.Lanes, JobAddress | void, SchedulerErrorReason> => {
  switch (command._tag) {
    case "enqueue":
      return Lanes.enqueue(lanes, {
        ...command,
        lane: laneId(command.lane),
        group,
        job: jobId(100 + index),
        kind,
        payload: null
      })
    case "cancel":
      return Lanes.cancel(lanes, jobId(command.pick))
    case "settle":
      return Lanes.settle(lanes, { job: jobId(command.pick), epoch: 1 })
    case "setCap":
      return Decision.accept(Loaded.setCap(lanes, { lane: laneId(command.lane), cap: command.cap }), undefined)
  }
}

it.effect.prop(
  "a decision changes nothing until its lanes are adopted, and is the same when it is made again",
  [Start, Schema.Array(Step).check(Schema.isMaxLength(20))],
  ([start, steps]) =>
    Effect.sync(() => {
      let lanes = lanesOf(start)
      for (const [index, { command, isAdopted }] of steps.entries()) {
        const before = changesOf(lanes)
        const first = decide(lanes, command, index)
        const second = decide(lanes, command, index)
        assert.deepStrictEqual(changesOf(lanes), before)
        assert.strictEqual(Result.isSuccess(first), Result.isSuccess(second))
        if (Result.isFailure(first) || Result.isFailure(second)) continue
        assert.deepStrictEqual(first.success.value, second.success.value)
        assert.deepStrictEqual(changesOf(first.success.state), changesOf(second.success.state))
        if (isAdopted) lanes = first.success.state
      }
    }),
  { arbitrary: { runs: 500 } }
)

it.effect.prop(
  "a lane holds more slots than its cap only after the cap was lowered, and no job waits while a slot is free",
  [Start, Schema.Array(Command).check(Schema.isMaxLength(20))],
  ([start, commands]) =>
    Effect.sync(() => {
      let lanes = lanesOf(start)
      for (const [index, command] of commands.entries()) {
        const before = countersOf(lanes)
        const decided = decide(lanes, command, index)
        if (Result.isFailure(decided)) continue
        lanes = decided.success.state
        const after = countersOf(lanes)
        for (const [lane, { cap, held, heldMax, waiting }] of after) {
          assert.isAtMost(held, Math.max(cap, before.get(lane)!.held))
          assert.isAtMost(held, heldMax)
          assert.isTrue(waiting === 0 || held >= cap)
        }
        const waiting = Array.from(after.values()).reduce((sum, lane) => sum + lane.waiting, 0)
        const [changed] = changesOf(lanes).groups
        if (changed !== undefined) assert.strictEqual(changed.after.waiting, waiting)
      }
    }),
  { arbitrary: { runs: 500 } }
)

it("two decisions from the same lanes never adopt more jobs than the cap", () => {
  const lanes = lanesOf({ caps: [1, 1], jobs: [], lowered: false })
  const command = (index: number) => ({ job: jobId(index), lane: laneId(0), group, kind, payload: null, cap: 1 })
  const first = Result.getOrThrow(Lanes.enqueue(lanes, command(1)))
  const second = Result.getOrThrow(Lanes.enqueue(lanes, command(2)))
  assert.deepStrictEqual([first.value.state, second.value.state], ["queued", "queued"])
  // Adopting the second decision drops the first one.
  assert.deepStrictEqual(changesOf(second.state).enqueued.map(({ job }) => job), [jobId(2)])
  const both = Result.getOrThrow(Lanes.enqueue(first.state, command(2)))
  assert.strictEqual(both.value.state, "pending")
})

it("enqueue throws if the lanes have the job, were not loaded, or belong to another group", () => {
  const lanes = lanesOf({ caps: [1, 1], jobs: [{ lane: 0, started: false }], lowered: false })
  const command = { job: jobId(1), lane: laneId(0), group, kind, payload: null, cap: 1 }
  assert.throws(() => Lanes.enqueue(lanes, { ...command, job: jobId(0) }), "exists already")
  assert.throws(() => Lanes.enqueue(lanes, { ...command, lane: "other" }), "was not loaded")
  assert.throws(() => Lanes.enqueue(lanes, { ...command, group: "other" }), "belongs to the group")
})

/** The counters that saving the lanes would write. */
const countersOf = (lanes: Lanes.Lanes): ReadonlyMap<string, Loaded.LaneCounters> => {
  const changed = new Map(changesOf(lanes).lanes.map(({ after }) => [after.lane, after]))
  return new Map(Array.from(lanes.lanes, ([lane, { stored }]) => [lane, changed.get(lane) ?? stored]))
}
