/** Charges a set of jobs and counts them against the budgets of their keys, gives each a slot or a place in the queue, and inserts their generations. */
import type { PlanTable } from "@kinora/accounts"
import { Accounts } from "@kinora/accounts/Accounts"
import * as KeySpending from "@kinora/accounts/KeySpending"
import * as Books from "@kinora/ledger/Books"
import { Ledger } from "@kinora/ledger/Ledger"
import * as Decision from "@kinora/persistence/Decision"
import * as Pipelining from "@kinora/persistence/Pipelining"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import * as Lanes from "@kinora/scheduler/Lanes"
import { Scheduler } from "@kinora/scheduler/Scheduler"
import { DateTime, Effect, Result } from "effect"
import { Changes } from "../../Changes.ts"
import * as CreditLots from "../../CreditLots.ts"
import { type Generation, GenerationId } from "../../Generation.ts"
import type * as GenerationError from "../../GenerationError.ts"
import { GenerationStore } from "../../GenerationStore.ts"
import { addressOf, kindOf } from "../jobAddress.ts"
import type { JobState } from "../jobState.ts"
import * as Metrics from "../metrics.ts"
import { makeQueuePromoted } from "../queuePromoted.ts"
import { creditsOf } from "./admission.ts"
import type { AdmittedJob } from "./admittedJob.ts"
import { type LaneTerms, makeCurrentTerms } from "./currentTerms.ts"
import { type KeptImages, makeKeepImages, missingImage } from "./jobImages.ts"
import { ofBudget, ofCharge, ofQueue } from "./refusals.ts"

/** Result of placing one job. */
export type Placed = Result.Result<Generation, GenerationError.Refusal>

/** The state that jobs are created on. */
export interface PlacingState extends JobState {
  readonly keyLines: KeySpending.KeyLines
}

/** Makes a function that locks and reads the state on which jobs are placed. It does not depend on which of the jobs are. */
export const makeLoad = Effect.gen(function*() {
  const { spending } = yield* Accounts
  const ledger = yield* Ledger
  const scheduler = yield* Scheduler

  return (jobs: ReadonlyArray<AdmittedJob>) => {
    const span = spanOf(jobs)
    return Effect.map(
      Pipelining.both(
        ledger.load({
          charges: jobs.map(({ generation }) => ({ account: generation.account, reference: generation.id })),
          ...span
        }),
        Pipelining.both(
          scheduler.load({ lanes: jobs.map(({ generation }) => addressOf(generation)) }),
          spending.load(jobs.flatMap(({ budgetLine }) => budgetLine ?? []), span.at)
        )
      ),
      ([books, [lanes, keyLines]]): PlacingState => ({ books, lanes, keyLines })
    )
  }
})

/** Makes a function that places loaded jobs in the open unit of work and returns one result per job, in order. */
export const makePlaceAll = Effect.fnUntraced(function*(planTable: PlanTable.PlanTable) {
  const { spending } = yield* Accounts
  const ledger = yield* Ledger
  const scheduler = yield* Scheduler
  const keepImages = yield* makeKeepImages
  const insertAll = yield* makeInsertAll
  const currentTerms = yield* makeCurrentTerms(planTable)

  return Effect.fnUntraced(function*(jobs: ReadonlyArray<AdmittedJob>, loaded: PlacingState) {
    const none: ReadonlyArray<Placed> = []
    if (jobs.length === 0) return none
    const [images, current] = yield* Pipelining.both(keepImages(jobs), currentTerms(loaded.lanes, jobs))
    const { results, state } = Decision.all(loaded, jobs, (state, job) => place(state, job, images, current))
    yield* spending.save(state.keyLines)
    yield* Pipelining.atCommit(ledger.save(state.books))
    const { promoted } = yield* Pipelining.atCommit(scheduler.save(state.lanes))
    return yield* insertAll(results, promoted.map(GenerationId.fromUuid))
  })
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Counts, charges and enqueues a job, or none of these. */
const place = (
  { books, keyLines, lanes }: PlacingState,
  job: AdmittedJob,
  images: KeptImages,
  current: ReadonlyMap<string, LaneTerms>
): Decision.Decision<PlacingState, Generation, GenerationError.Refusal> => {
  const { generation, terms } = job
  const missing = missingImage(job, images)
  if (missing !== undefined) return Result.fail(missing)
  const counted = count(keyLines, job)
  if (Result.isFailure(counted)) return Result.fail(ofBudget(counted.failure, generation.plan))
  const charge = Books.charge(books, {
    account: generation.account,
    reference: generation.id,
    amount: terms.amount,
    at: generation.createdAt
  })
  if (Result.isFailure(charge)) return Result.fail(ofCharge(charge.failure, generation.plan))
  const address = addressOf(generation)
  const { concurrency, weight } = current.get(address.lane) ?? terms
  const enqueued = Lanes.enqueue(lanes, {
    ...address,
    kind: kindOf(generation.model),
    payload: { id: generation.id },
    cap: concurrency,
    weight,
    timeLimit: terms.timeLimit
  })
  if (Result.isFailure(enqueued)) return Result.fail(ofQueue(enqueued.failure, generation.plan))
  const { state, value } = enqueued.success
  const { state: charged, value: paid } = charge.success
  return Decision.accept({ books: charged, lanes: state, keyLines: counted.success.state }, {
    ...generation,
    status: value.state,
    watermark: paid._tag === "ChargedCredits" && CreditLots.hasWatermark(paid.labels),
    ...counted.success.value && job.budgetLine !== undefined && { keyLine: job.budgetLine }
  })
}

/** Counts a job against the budget of its key, if there is one. Returns whether it is counted. */
const count = (
  keyLines: KeySpending.KeyLines,
  { budgetLine: line, generation, terms }: AdmittedJob
): Decision.Decision<KeySpending.KeyLines, boolean, KeySpending.BudgetExceeded> =>
  line === undefined
    ? Decision.accept(keyLines, false)
    : KeySpending.spend(keyLines, { line, credits: creditsOf(terms), at: generation.createdAt })

/** Makes a function that inserts the placed generations, and queues older ones that a higher cap promoted. Returns the results with the status that was inserted. */
const makeInsertAll = Effect.gen(function*() {
  const { afterCommit } = yield* UnitOfWork
  const changes = yield* Changes
  const queuePromoted = yield* makeQueuePromoted
  const store = yield* GenerationStore

  return Effect.fnUntraced(function*(placed: ReadonlyArray<Placed>, promoted: ReadonlyArray<GenerationId>) {
    const queued = new Set(promoted)
    const results = placed.map(
      Result.map((generation): Generation =>
        queued.has(generation.id) ? { ...generation, status: "queued" } : generation
      )
    )
    const inserted = results.filter(Result.isSuccess).map(({ success }) => success)
    if (inserted.length > 0) {
      yield* Pipelining.atCommit(store.insert(inserted))
      yield* afterCommit(Metrics.created(inserted))
      yield* afterCommit(changes.publish(inserted.map(({ id }) => id)))
    }
    for (const { id } of inserted) queued.delete(id)
    yield* queuePromoted(Array.from(queued))
    return results
  })
})

/** Returns the earliest and the latest time of the set's requests. */
const spanOf = (jobs: ReadonlyArray<AdmittedJob>): { readonly at: DateTime.Utc; readonly until: DateTime.Utc } => {
  const times = jobs.map(({ generation }) => generation.createdAt)
  return { at: times.reduce(DateTime.min), until: times.reduce(DateTime.max) }
}
