/** The contract that others run on their stores fails for stores with a fault. */
import { assert, it } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence"
import { Duration, Effect, Exit, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import { parts, services } from "../src/internal/contract/contract.ts"
import type { Register } from "../src/internal/contract/tests.ts"
import * as MemorySchedulerStore from "../src/MemorySchedulerStore.ts"
import { SchedulerStore } from "../src/SchedulerStore.ts"

type Store = SchedulerStore["Service"]

/** Returns whether a test fails for a store in memory with a fault. */
const isNoticed = Effect.fnUntraced(function*(fault: (store: Store) => Partial<Store>, name: string) {
  const store = Layer.effect(SchedulerStore, Effect.map(SchedulerStore, (store) => ({ ...store, ...fault(store) })))
    .pipe(Layer.provide(MemorySchedulerStore.layer), Layer.provideMerge(UnitOfWork.layerMemory))
  const runs: Array<Effect.Effect<boolean>> = []
  const test: Register = (other, body) => {
    if (other !== name) return
    const run = Effect.exit(Effect.scoped(Effect.provide(Effect.suspend(body), services(store))))
    runs.push(Effect.map(run, Exit.isFailure))
  }
  for (const register of Object.values(parts).flat()) register(test)
  assert.strictEqual(runs.length, 1, name)
  return yield* Effect.provide(runs[0]!, TestClock.layer())
})

/** Faults, and a test that notices each. */
const faults: ReadonlyArray<readonly [fault: string, (store: Store) => Partial<Store>, test: string]> = [
  [
    "promotes no jobs",
    ({ apply }) => ({ apply: (changes) => apply({ ...changes, promotions: [] }) }),
    "promotes the oldest job in the unit that frees its slot"
  ],
  [
    "does not free slots",
    ({ apply }) => ({ apply: (changes) => apply({ ...changes, ended: [] }), end: () => Effect.succeed(false) }),
    "settles a job once, and only under its epoch"
  ],
  [
    "returns no counters of lanes",
    ({ peek }) => ({ peek: (lane, group) => peek(`${lane}-other`, group) }),
    "checks the room for a job like it would be decided, and creates no lane"
  ],
  [
    "claims jobs of every kind",
    ({ claim, queues }) => ({
      claim: (terms) => Effect.flatMap(queues, (queues) => claim({ ...terms, kinds: queues.map(({ kind }) => kind) }))
    }),
    "leaves the jobs of a pool queued until a worker that serves the pool claims them"
  ],
  [
    "claims more jobs than the limit",
    ({ claim }) => ({ claim: (terms) => claim({ ...terms, limit: 100 }) }),
    "claims jobs by kind, up to the limit, the oldest slot first"
  ],
  [
    "claims jobs of groups that are left out",
    ({ claim }) => ({ claim: (terms) => claim({ ...terms, except: [] }) }),
    "leaves the jobs of some groups to other claims"
  ],
  [
    "enqueues no job under a lease",
    () => ({ enqueueLeased: () => Effect.undefined }),
    "enqueues a job under the lease of a worker if a slot is free, and changes nothing otherwise"
  ],
  [
    "ignores the cap and the weight of an enqueued job",
    ({ enqueueLeased, peek }) => ({
      enqueueLeased: (job, _, terms) =>
        Effect.flatMap(peek(job.lane, job.group), ({ lane }) => enqueueLeased(job, lane, terms))
    }),
    "enqueues a job under the lease of a worker if a slot is free, and changes nothing otherwise"
  ],
  [
    "leases no job of a slot",
    ({ apply }) => ({ apply: (changes) => apply(changes) }),
    "leases the job of a slot that a unit enqueues, if the lease holds"
  ],
  [
    "ends no job without a unit",
    () => ({ end: () => Effect.succeed(false) }),
    "ends a job under its lease if no job of its lane waits or is queued, and changes nothing otherwise"
  ],
  [
    "renews leases that have expired",
    () => ({ renewLease: () => Effect.succeed(true) }),
    "never renews a lease that has expired, and claims and rescues nothing under it"
  ],
  [
    "rescues nothing",
    () => ({ rescue: () => Effect.succeed({ requeued: [], exhausted: [] }) }),
    "ignores the writes of a worker whose lease was rescued"
  ],
  [
    "ignores the jobs that a rescuer holds",
    ({ rescue }) => ({ rescue: (terms) => rescue({ ...terms, held: undefined }) }),
    "takes over jobs under the lease of the rescuer that it does not hold, if it names those that it holds"
  ],
  [
    "stores no checkpoints",
    () => ({ checkpoint: (checkpoints) => Effect.succeed(checkpoints.map(({ job }) => job)) }),
    "stores the last of several checkpoints of the newest epoch"
  ],
  [
    "releases nothing",
    () => ({ release: () => Effect.succeed([]) }),
    "queues a released job before all others, without counting the attempt"
  ],
  [
    "ends no leases",
    () => ({ endLeases: Effect.succeed(0) }),
    "takes over all jobs after all leases were ended"
  ],
  [
    "forgets which workers drain",
    () => ({ isDrained: () => Effect.succeed(false) }),
    "asks a worker to drain while its lease holds, also under its next lease, until it is asked to resume"
  ],
  [
    "shows no workers",
    () => ({ workers: () => Effect.succeed([]) }),
    "lists the workers whose lease holds, and the lanes that have jobs, page by page"
  ],
  [
    "counts no jobs of pools",
    () => ({ queues: Effect.succeed([]) }),
    "counts the jobs and the workers of each kind and pool"
  ],
  [
    "finds no waiting jobs",
    () => ({ waiting: () => Effect.succeed([]) }),
    "finds jobs that have not started for too long"
  ],
  [
    "finds no drifts",
    () => ({ verify: () => Effect.succeed([]) }),
    "verify finds wrong counters, and rebuild corrects them"
  ],
  [
    "has no due jobs",
    () => ({ due: () => Effect.succeed([]) }),
    "places a job when it is due, and not before"
  ],
  [
    "does not load which delayed jobs are due",
    () => ({ findDue: () => Effect.succeed([]) }),
    "places due jobs in the order in which they are due, under the cap of that moment"
  ],
  [
    "does not return when a job is due",
    () => ({ dueIn: Effect.succeed(Option.some(Duration.zero)) }),
    "returns the time until the next delayed job is due"
  ],
  [
    "advances a schedule twice",
    ({ advance }) => ({ advance: (next) => Effect.as(advance(next), true) }),
    "advances a schedule once from the time at which it is, unless the unit is undone"
  ],
  [
    "forgets no lanes",
    () => ({ forgetLanes: () => Effect.succeed(0) }),
    "leaves running jobs, which end as ever, and is complete when it is called again"
  ],
  [
    "does not find all jobs of a group",
    ({ jobsOf }) => ({
      jobsOf: (selection) => Effect.map(jobsOf(selection), (jobs) => jobs.filter(({ lane }) => !lane.endsWith("-b")))
    }),
    "deletes delayed, pending and queued jobs and their lanes in sets, and those of no other group"
  ],
  [
    "exchanges no slots",
    () => ({ swap: () => Effect.succeed({ promoted: [], displaced: [] }) }),
    "go to the oldest pending jobs that a worker claims"
  ],
  [
    "forgets unique keys",
    ({ load }) => ({
      load: (request) =>
        Effect.map(load(request), (state) => ({
          ...state,
          keys: (state.keys ?? []).map((key) => ({ ...key, job: undefined }))
        }))
    }),
    "refuses a second job with the key in every state of the first one, and names the first one"
  ],
  [
    "forgets priorities",
    ({ apply }) => ({
      apply: (changes) => apply({ ...changes, enqueued: changes.enqueued.map((job) => ({ ...job, priority: 0 })) })
    }),
    "start the jobs of a lane with the highest priority first, and the oldest of those with the same"
  ],
  [
    "compares ids without their case",
    ({ find }) => ({ find: (jobs) => find(jobs.map((job) => job.toLowerCase())) }),
    "never confuses two texts, and enqueues one text once"
  ]
]

for (const [fault, change, test] of faults) {
  it.effect(`fails for a store that ${fault}`, () =>
    Effect.gen(function*() {
      assert.isFalse(yield* isNoticed(() => ({}), test), "the test fails without the fault")
      assert.isTrue(yield* isNoticed(change, test))
    }))
}

it.effect("fails for a store that takes no part in units of work", () =>
  Effect.gen(function*() {
    const memory = MemorySchedulerStore.layer.pipe(Layer.provide(UnitOfWork.layerMemory))
    const apart = yield* Effect.provide(SchedulerStore, memory)
    assert.isTrue(
      yield* isNoticed(() => apart, "writes nothing of a decision that is not adopted, or of a unit that fails")
    )
  }))
