/** The operations of the scheduler that lease jobs to workers. */
import * as Folding from "@kinora/persistence/Folding"
import { Duration, Effect, Random, Result } from "effect"
import type { Lease } from "../Job.ts"
import { SchedulerError } from "../SchedulerError.ts"
import { SchedulerStore } from "../SchedulerStore.ts"
import { makeAnnounce } from "./announce.ts"
import type { JobId } from "./ids.ts"
import { LeaseLost, NotFound } from "./reasons.ts"
import type {
  CheckpointOptions,
  ClaimOptions,
  LeaseOptions,
  Release,
  RenewalOptions,
  RescueOptions
} from "./requests.ts"
import type { AloneQuestion, Checkpoint } from "./storeTypes.ts"

/** Creates the operations. */
export const makeLeases = Effect.fnUntraced(function*(aloneDelay: Duration.Duration) {
  const store = yield* SchedulerStore
  const announce = yield* makeAnnounce

  const claim = Effect.fn("Scheduler.claim")(function*(options: ClaimOptions) {
    const { alone = false, except = [], kinds, limit } = options
    const resumableKinds = (options.resumableKinds ?? []).filter((kind) => !kinds.includes(kind))
    if (limit <= 0 || kinds.length + resumableKinds.length === 0) return []
    return yield* store.claim({ ...options, alone, except, resumableKinds })
  })

  const takeLease = Effect.fn("Scheduler.takeLease")(function*({ ttl, ...worker }: LeaseOptions) {
    const lease = `${worker.id}/${yield* Random.nextInt}`
    yield* store.takeLease({ ...worker, lease, ttl: Duration.fromInputUnsafe(ttl) })
    return lease
  })

  const checkpointFolded = yield* Folding.makeResult({
    name: "Scheduler.checkpoint",
    keyOf: ({ job }: Checkpoint) => job,
    run: Effect.fnUntraced(function*(commands: ReadonlyArray<Checkpoint>) {
      const newest = newestOf(commands)
      const held = new Set(yield* store.checkpoint(Array.from(newest.values())))
      return commands.map(({ epoch, job }) =>
        held.has(job) && newest.get(job)?.epoch === epoch
          ? Result.void
          : Result.fail(new SchedulerError({ reason: new LeaseLost({ job, epoch }) }))
      )
    })
  })

  const checkpoint = ({ resumable = false, ...command }: CheckpointOptions) =>
    checkpointFolded({ ...command, resumable })

  const release = Effect.fn("Scheduler.release")(function*(leases: ReadonlyArray<Release>) {
    if (leases.length === 0) return
    const released = yield* store.release(Array.from(newestOf(leases).values()))
    if (released.length > 0) yield* announce(undefined)
  })

  const rescue = Effect.fn("Scheduler.rescue")(function*(options: RescueOptions) {
    if (options.limit <= 0 || options.kinds.length === 0) return { requeued: [], exhausted: [] }
    const rescued = yield* store.rescue({ ...options, aloneDelay })
    if (rescued.requeued.length > 0) yield* announce(undefined)
    return rescued
  })

  return {
    claim,
    takeLease,
    renewLease: Effect.fn("Scheduler.renewLease")(({ ttl, ...renewal }: RenewalOptions) =>
      store.renewLease({ ...renewal, ttl: Duration.fromInputUnsafe(ttl) })
    ),
    drain: Effect.fn("Scheduler.drain")((worker: string) => store.drain(worker, true)),
    resume: Effect.fn("Scheduler.resume")((worker: string) => store.drain(worker, false)),
    isDrained: Effect.fn("Scheduler.isDrained")((lease: string) => store.isDrained(lease)),
    returnLease: Effect.fn("Scheduler.returnLease")((lease: string) => store.returnLease(lease)),
    endLeases: Effect.withSpan(store.endLeases, "Scheduler.endLeases"),
    isAloneDue: Effect.fn("Scheduler.isAloneDue")((question: AloneQuestion) => store.isAloneDue(question)),
    checkpoint,
    release,
    requeue: yield* makeRequeue,
    rescue
  }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The last command per job under its newest epoch, since only the newest epoch of a job can hold its lease. */
const newestOf = <L extends Lease>(leases: ReadonlyArray<L>): ReadonlyMap<JobId, L> => {
  const newest = new Map<JobId, L>()
  for (const lease of leases) if (lease.epoch >= (newest.get(lease.job)?.epoch ?? 0)) newest.set(lease.job, lease)
  return newest
}

const makeRequeue = Effect.gen(function*() {
  const store = yield* SchedulerStore
  const announce = yield* makeAnnounce

  return Effect.fn("Scheduler.requeue")(function*(job: JobId) {
    const [found] = yield* store.find([job])
    if (found === undefined) return yield* new SchedulerError({ reason: new NotFound({ job }) })
    if (found.state !== "running") return false
    const released = yield* store.release([found])
    if (released.length > 0) yield* announce([found.kind])
    return released.length > 0
  })
})
