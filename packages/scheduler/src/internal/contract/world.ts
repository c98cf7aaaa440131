/** Names that no other test uses, and leases. */
import type { StorageError } from "@kinora/persistence/StorageError"
import { type Duration, Effect, Schema } from "effect"
import * as JobKind from "../../JobKind.ts"
import { Scheduler } from "../../Scheduler.ts"
import type { SchedulerError } from "../../SchedulerError.ts"
import type { Enqueue, RescueOptions } from "../requests.ts"

/** Creates names of lanes, kinds and jobs that no other test of the same database uses. */
export const makeWorld = Effect.sync(() => {
  const world = ++worlds
  let jobs = 0
  const group = `group-${world}`
  const lane = `lane-${world}`
  const kind = JobKind.make({ name: `kind-${world}`, payload: Schema.Struct({ n: Schema.Int }) })
  const id = (n = ++jobs) => `00000000-0000-4000-8000-${String(world * 1_000_000 + n).padStart(12, "0")}`
  return {
    group,
    lane,
    kind,
    id,
    /** A job, by default in the lane of the world. */
    job: (options: Partial<Enqueue<{ readonly n: number }>> = {}): Enqueue<{ readonly n: number }> => ({
      job: id(),
      lane,
      group,
      kind,
      payload: { n: jobs },
      cap: 1,
      ...options
    }),
    /** Claims under a lease of its own, which is renewed by nobody. */
    claim: ({ ttl, ...options }: Options = {}) =>
      Effect.flatMap(
        takeLease(ttl),
        (lease) =>
          Scheduler.use((scheduler) =>
            scheduler.claim({ lease, worker: "test", kinds: [kind.name], limit: 10, ...options })
          )
      ),
    /** Rescues under a lease of its own. */
    rescue: ({ ttl, ...options }: Options = {}) =>
      Effect.flatMap(
        takeLease(ttl),
        (lease) =>
          Scheduler.use((scheduler) =>
            scheduler.rescue({ lease, worker: "rescuer", kinds: [kind.name], limit: 10, ...options })
          )
      )
  }
})

/** Takes a lease of a worker that offers nothing. */
export const takeLease = (ttl: Duration.Input = "30 seconds", id = `worker-${++workers}`) =>
  Scheduler.use((scheduler) => scheduler.takeLease({ id, worker: "test", kinds: [], slots: 1, ttl }))

/** The state of a job, or `undefined` if it has ended. */
export const stateOf = Effect.fnUntraced(function*(job: string) {
  const { find } = yield* Scheduler
  const [status] = yield* find([job])
  return status?.state
})

/** The ids of jobs, in order. */
export const ids = (jobs: ReadonlyArray<{ readonly job: string }>) => jobs.map(({ job }) => job)

/** The reason why a single call was refused. */
export const refusal = <A>(effect: Effect.Effect<A, SchedulerError | StorageError>) =>
  Effect.flatMap(
    Effect.flip(effect),
    (error) => error._tag === "SchedulerError" ? Effect.succeed(error.reason) : Effect.die(error)
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

let worlds = 0
let workers = 0

type Options = Partial<RescueOptions> & { readonly ttl?: Duration.Input | undefined }
