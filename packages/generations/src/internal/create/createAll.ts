/**
 * Creates a set of generations in one unit of work: claims the requests, charges the
 * accounts, takes slots or places in the queue, and inserts the rows. A refused job
 * leaves nothing behind and does not stop the others.
 */
import type { PlanTable } from "@kinora/accounts"
import type { Claim } from "@kinora/idempotency"
import { Idempotency } from "@kinora/idempotency/Idempotency"
import * as Pipelining from "@kinora/persistence/Pipelining"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Effect, Result } from "effect"
import type { Created } from "../../CreateCommand.ts"
import { type Generation, GenerationId } from "../../Generation.ts"
import * as GenerationError from "../../GenerationError.ts"
import { GenerationStore } from "../../GenerationStore.ts"
import type { AdmittedJob } from "./admittedJob.ts"
import { makeLoad, makePlaceAll, type Placed } from "./placeAll.ts"

/** Makes a function that creates a set of jobs and returns one result per job, in order. */
export const makeCreateAll = Effect.fnUntraced(function*(planTable: PlanTable.PlanTable) {
  const { atomically } = yield* UnitOfWork
  const idempotency = yield* Idempotency
  const store = yield* GenerationStore
  const load = yield* makeLoad
  const placeAll = yield* makePlaceAll(planTable)

  /** Returns the generations of earlier requests by id. */
  const findEarlier = Effect.fnUntraced(function*(outcomes: ReadonlyArray<Claim.Outcome>) {
    const ids = outcomes.flatMap((outcome) =>
      outcome._tag === "Replay" ? GenerationId.parse(outcome.reference) ?? [] : []
    )
    const found = ids.length === 0 ? [] : yield* store.find(ids)
    return new Map<string, Generation>(found.map((generation) => [generation.id, generation]))
  })

  return Effect.fn("Generations.createAll")(function*(jobs: ReadonlyArray<AdmittedJob>) {
    const [outcomes, loaded] = yield* Pipelining.both(
      idempotency.claimAll(jobs.map(({ claim }) => claim)),
      load(jobs)
    )
    const claimed = jobs.filter((_, index) => outcomes[index]?._tag === "Claimed")
    const results = yield* placeAll(claimed, loaded)
    const refused = claimed.filter((_, index) => Result.isFailure(results[index]!))
    if (refused.length > 0) yield* idempotency.release(refused.map(({ claim }) => claim))

    const placed = new Map(claimed.map((job, index) => [job, results[index]!]))
    const earlier = yield* findEarlier(outcomes)
    return outcomes.map((outcome, index) => createdOf(outcome, jobs[index]!, { jobs, placed, earlier }))
  }, atomically)
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface CreatedSet {
  readonly jobs: ReadonlyArray<AdmittedJob>
  /** Results of the jobs that claimed their request. */
  readonly placed: ReadonlyMap<AdmittedJob, Placed>
  /** Generations of earlier requests by id. */
  readonly earlier: ReadonlyMap<string, Generation>
}

/** Returns the result of a job from the outcome of its claim. */
const createdOf = (
  outcome: Claim.Outcome,
  job: AdmittedJob,
  { earlier, jobs, placed }: CreatedSet
): Result.Result<Created, GenerationError.Refusal> => {
  switch (outcome._tag) {
    case "Claimed":
      return Result.map(placed.get(job)!, (generation) => ({ generation, replayed: false }))
    case "Follower":
      return Result.map(placed.get(jobs[outcome.leader]!)!, (generation) => ({ generation, replayed: true }))
    case "Reused":
      return Result.fail(new GenerationError.KeyReused())
    case "Replay": {
      const generation = earlier.get(outcome.reference)
      // A claim commits together with its generation, which is deleted days after the claim has expired.
      if (generation === undefined) throw new Error(`The generation ${outcome.reference} of a claim does not exist`)
      return Result.succeed({ generation, replayed: true })
    }
  }
}
