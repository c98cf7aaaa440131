/** Jobs that are enqueued and ended in one statement, compared with those of a unit that decides on lanes. */
import { assert, layer } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Effect, type Layer, Result, Schema } from "effect"
import { rowOf } from "../src/internal/contract/singleJobs.ts"
import { ids, makeWorld, takeLease } from "../src/internal/contract/world.ts"
import { changesOf } from "../src/internal/laneChanges.ts"
import type { NewJob } from "../src/internal/loadedLanes.ts"
import * as Loaded from "../src/internal/loadedLanes.ts"
import type { LeaseTerms } from "../src/internal/storeTypes.ts"
import type { ClaimedJob } from "../src/Job.ts"
import * as Lanes from "../src/Lanes.ts"
import * as Scheduler from "../src/Scheduler.ts"
import { SchedulerStore } from "../src/SchedulerStore.ts"
import type { Backend } from "./Fixture.ts"

const runs = 40

const Few = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum }))

const Command = Schema.Union([
  Schema.TaggedStruct("enqueueLeased", { cap: Few(3), weight: Schema.Literals([1, 2]), isHeld: Schema.Boolean }),
  Schema.TaggedStruct("enqueue", { cap: Few(3), weight: Schema.Literals([1, 2]) }),
  Schema.TaggedStruct("claim", { limit: Few(2) }),
  Schema.TaggedStruct("release", { pick: Few(5) }),
  // Ends a job under its own epoch, or another one.
  Schema.TaggedStruct("end", { pick: Few(5), epoch: Schema.Literals([0, 0, 0, 1]) }),
  Schema.TaggedStruct("setCap", { cap: Few(3) })
])

/** Enqueues and ends jobs in one lane. Returns what was leased, and whether a job ended. */
interface Way {
  readonly enqueueLeased: (
    job: NewJob,
    lane: { readonly cap: number; readonly weight: number },
    terms: LeaseTerms
  ) => Effect.Effect<ClaimedJob | undefined, unknown>
  /** `isAnyQueued`: whether a job of the lane holds a slot that no worker has started. */
  readonly end: (job: Loaded.JobPlace, isAnyQueued: boolean) => Effect.Effect<boolean, unknown>
}

export const suite = <E>(name: string, backend: Layer.Layer<Backend, E>) =>
  layer(backend)(`Single jobs in one statement (${name})`, (it) => {
    it.effect.prop(
      "are enqueued and ended exactly if nothing else follows, and as under locks",
      [Schema.Array(Command).check(Schema.isMaxLength(12))],
      ([commands]) =>
        Effect.gen(function*() {
          const direct = yield* runAll(commands, yield* inOneStatement)
          assert.deepStrictEqual(direct, yield* runAll(commands, yield* underLocks))
        }),
      { arbitrary: { runs } }
    )
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Runs commands in a lane of their own, and returns what can be seen after each. Jobs are numbered. */
const runAll = Effect.fnUntraced(function*(commands: ReadonlyArray<typeof Command.Type>, way: Way) {
  const store = yield* SchedulerStore
  const scheduler = yield* Scheduler.Scheduler
  const { claim, group, job, kind, lane } = yield* makeWorld
  const terms = { lease: yield* takeLease("1 hour"), worker: "test" }
  const added: Array<string> = []
  const add = (options: { readonly cap: number; readonly weight: number }) => {
    const command = job(options)
    added.push(command.job)
    return command
  }
  const numberOf = (id: string) => added.indexOf(id)
  const log: Array<unknown> = []
  yield* scheduler.setCap({ lane, group, cap: 2 })
  for (const command of commands) {
    switch (command._tag) {
      case "enqueueLeased": {
        const { cap, isHeld, weight } = command
        const held = isHeld ? terms : { ...terms, lease: "gone" }
        const leased = yield* way.enqueueLeased(rowOf(add({ cap, weight })), { cap, weight }, held)
        log.push(leased && [numberOf(leased.job), leased.epoch, leased.attempt, leased.payload, leased.attemptsMax])
        break
      }
      case "enqueue":
        log.push((yield* scheduler.enqueue({ ...add(command), waitingMax: Infinity })).state)
        break
      case "claim":
        log.push(ids(yield* claim({ limit: command.limit, ttl: "1 hour" })).map(numberOf))
        break
      case "release": {
        const found = (yield* scheduler.find(added)).find((status) => numberOf(status.job) === command.pick)
        if (found !== undefined) yield* scheduler.release([found])
        break
      }
      case "end": {
        const stored = yield* scheduler.find(added)
        const found = stored.find((status) => numberOf(status.job) === command.pick)
        if (found === undefined) break
        const isAnyQueued = stored.some(({ epoch, state }) => state === "queued" && epoch === 0)
        const place = { ...found, epoch: found.epoch + command.epoch, uniqueKey: undefined }
        log.push(yield* way.end(place, isAnyQueued))
        break
      }
      case "setCap":
        yield* scheduler.setCap({ lane, group, cap: command.cap })
    }
    const peeked = yield* store.peek(lane, group)
    const found = yield* scheduler.find(added)
    log.push(
      { ...peeked.lane, lane: "", group: "" },
      peeked.group.waiting,
      found.map(({ attempt, epoch, job, state }) => [numberOf(job), state, epoch, attempt].join()).toSorted()
    )
    assert.deepStrictEqual(yield* scheduler.verify, [])
  }
  // The order in which jobs are claimed depends on their shares.
  yield* scheduler.setCap({ lane, group, cap: 20 })
  log.push(ids(yield* claim({ kinds: [kind.name], limit: 20, ttl: "1 hour" })).map(numberOf))
  return log
})

const inOneStatement = Effect.map(SchedulerStore, ({ end, enqueueLeased }): Way => ({ end, enqueueLeased }))

/** Decides on lanes, and applies the changes if they concern nothing but the job and the number of slots. */
const underLocks = Effect.gen(function*() {
  const { apply, load } = yield* SchedulerStore
  const { atomically } = yield* UnitOfWork
  const loaded = ({ group, lane }: NewJob | Loaded.JobPlace, jobs: ReadonlyArray<string>) =>
    Effect.map(
      load({ groups: [group], lanes: [{ lane, group, isCreated: true }], jobs, keys: [] }),
      (state): Lanes.Lanes => Loaded.fromState(state, { attemptsMax: 3, waitingMax: Infinity })
    )
  const enqueueLeased: Way["enqueueLeased"] = Effect.fnUntraced(function*(job, { cap, weight }, { lease, worker }) {
    const kind = { name: job.kind, encode: (json: Schema.Json) => json, decode: (json: Schema.Json) => json }
    const decided = Lanes.enqueue(yield* loaded(job, []), { ...job, timeLimit: undefined, kind, cap, weight })
    const changes = changesOf(Result.getOrThrow(decided).state)
    const [counted] = changes.lanes
    const follows = changes.enqueued[0]?.state !== "queued" || changes.promotions.length + changes.groups.length > 0 ||
      counted?.before.cap !== cap || counted.before.weight !== weight
    if (follows || lease === "gone") return undefined
    return (yield* apply(changes, { lease, worker, job: job.job }))?.handed
  }, atomically)
  const end: Way["end"] = Effect.fnUntraced(function*(job, isAnyQueued) {
    const decided = Lanes.settle(yield* loaded(job, [job.job]), job)
    if (Result.isFailure(decided)) return false
    const changes = changesOf(decided.success.state)
    // A unit decides whether a job that waits gets the slot, also if a lower cap means that none does.
    const isAnyWaiting = changes.lanes.some(({ before }) => before.waiting > 0)
    if (isAnyWaiting || isAnyQueued) return false
    yield* apply(changes)
    return true
  }, atomically)
  const way: Way = { enqueueLeased, end }
  return way
})
