/**
 * Ends a set of generations in one unit of work: the jobs leave their lanes, jobs
 * without a result are refunded and no longer count against the budgets of their keys, the oldest waiting jobs of the lanes take the free
 * slots, and webhook events are published.
 */
import { Accounts } from "@kinora/accounts/Accounts"
import * as KeySpending from "@kinora/accounts/KeySpending"
import * as Books from "@kinora/ledger/Books"
import { Ledger } from "@kinora/ledger/Ledger"
import * as Decision from "@kinora/persistence/Decision"
import * as Pipelining from "@kinora/persistence/Pipelining"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import type { JobAddress, Lease } from "@kinora/scheduler/Job"
import * as Lanes from "@kinora/scheduler/Lanes"
import { Scheduler } from "@kinora/scheduler/Scheduler"
import type { SchedulerErrorReason } from "@kinora/scheduler/SchedulerError"
import { Webhooks } from "@kinora/webhooks/Webhooks"
import { Data, DateTime, type Duration, Effect, Result, type Types } from "effect"
import { Changes } from "../../Changes.ts"
import { type Failure, type Generation, GenerationId, type Output } from "../../Generation.ts"
import * as GenerationEvent from "../../GenerationEvent.ts"
import { type Ending, GenerationStore, type Subject } from "../../GenerationStore.ts"
import { addressOf } from "../jobAddress.ts"
import type { JobDecision, JobState } from "../jobState.ts"
import * as Metrics from "../metrics.ts"

/** Command to end a generation. */
export type EndCommand =
  /** Cancels a job that has not started, for its owner. */
  | { readonly _tag: "Cancel"; readonly subject: Subject }
  /** Fails a job that has not started. */
  | { readonly _tag: "Drop"; readonly subject: Subject; readonly failure: Failure }
  /** Fails a job in any state. A worker that runs it loses its lease. */
  | { readonly _tag: "Abort"; readonly subject: Subject; readonly failure: Failure }
  /** Completes a running job with its stored result. */
  | {
    readonly _tag: "Complete"
    readonly subject: Subject
    readonly lease: Lease
    readonly output: Output
    /** How long the result can be downloaded. */
    readonly resultTtl: Duration.Input
  }
  /** Fails a running job. */
  | { readonly _tag: "Fail"; readonly subject: Subject; readonly lease: Lease; readonly failure: Failure }

/** The command is for a waiting job, and a worker has claimed the job. */
class AlreadyStarted extends Data.TaggedError("AlreadyStarted")<{}> {}

/** The job has ended, or another worker holds its lease. */
export class AlreadyEnded extends Data.TaggedError("AlreadyEnded")<{}> {}

/** Reason why a command changed nothing. */
export type NotEnded = AlreadyStarted | AlreadyEnded

/** Makes a function that ends a set of generations and returns the id or the reason per command, in order. */
export const makeEndAll = Effect.gen(function*() {
  const { atomically } = yield* UnitOfWork
  const ledger = yield* Ledger
  const scheduler = yield* Scheduler
  const store = yield* GenerationStore
  const record = yield* makeRecord

  return Effect.fn("Generations.endAll")(function*(commands: ReadonlyArray<EndCommand>) {
    const at = yield* DateTime.now
    const refunds = commands.filter(({ _tag }) => _tag !== "Complete")
    const jobs = commands.map(({ subject }) => addressOf(subject))
    const [books, lanes] = yield* Pipelining.both(
      ledger.load({
        charges: refunds.map(({ subject }) => ({ account: subject.account, reference: subject.id })),
        at
      }),
      scheduler.load({ lanes: jobs, jobs })
    )
    const { results, state } = Decision.all({ books, lanes }, commands, (state, command) => end(state, command, at))
    const endings = results.filter(Result.isSuccess).map(({ success }) => success)
    yield* Pipelining.atCommit(ledger.save(state.books))
    const [{ promoted }, changed] = yield* Pipelining.both(
      scheduler.save(state.lanes),
      endings.length > 0 ? store.end(endings) : Effect.succeed([])
    )
    yield* record({ endings, changed }, promoted.map(GenerationId.fromUuid))
    return results.map(Result.map(({ id }) => id))
  }, atomically)
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Ends a job and refunds it unless it completes, or neither. */
const end = (
  { books, lanes }: JobState,
  command: EndCommand,
  at: DateTime.Utc
): JobDecision<Ending, NotEnded> => {
  const { account, id } = command.subject
  const ended = leave(lanes, command)
  if (Result.isFailure(ended)) {
    return Result.fail(ended.failure._tag === "AlreadyRunning" ? new AlreadyStarted() : new AlreadyEnded())
  }
  const ending = endingOf(command, at)
  if (command._tag === "Complete") return Decision.accept({ books, lanes: ended.success.state }, ending)
  // The unit that enqueues a job also charges it, so a missing charge is corruption.
  const refunded = Result.getOrThrow(Books.refund(books, { account, reference: id, at }))
  return Decision.accept({ books: refunded.state, lanes: ended.success.state }, ending)
}

/** Removes a job from its lane. */
const leave = (
  lanes: Lanes.Lanes,
  command: EndCommand
): Decision.Decision<
  Lanes.Lanes,
  JobAddress,
  Types.ExtractTag<SchedulerErrorReason, "LeaseLost" | "NotFound" | "AlreadyRunning">
> =>
  "lease" in command
    ? Lanes.settle(lanes, command.lease)
    : (command._tag === "Abort" ? Lanes.abort : Lanes.cancel)(lanes, addressOf(command.subject).job)

/** The endings of a set, and the generations that they changed. */
interface Recorded {
  readonly endings: ReadonlyArray<Ending>
  readonly changed: ReadonlyArray<Generation>
}

/** Makes a function that stores what follows from the endings and promotions of a set, and announces them. */
const makeRecord = Effect.gen(function*() {
  const { afterCommit } = yield* UnitOfWork
  const changes = yield* Changes
  const store = yield* GenerationStore
  const webhooks = yield* Webhooks
  const restoreBudgets = yield* makeRestoreBudgets

  return Effect.fnUntraced(function*({ changed, endings }: Recorded, queued: ReadonlyArray<GenerationId>) {
    yield* restoreBudgets(changed.filter(({ refunded }) => refunded))
    if (queued.length > 0) yield* Pipelining.atCommit(store.queue(queued))
    yield* Pipelining.atCommit(webhooks.publish(GenerationEvent.ofChanged(changed)))
    yield* afterCommit(changes.publish(endings.map(({ id }) => id).concat(queued)))
    yield* afterCommit(Metrics.ended(changed))
  })
})

/**
 * Makes a function that restores the budgets of the keys that created refunded jobs. The rows of the jobs name the keys,
 * so other jobs cost no statement.
 */
const makeRestoreBudgets = Effect.gen(function*() {
  const { spending } = yield* Accounts

  return Effect.fnUntraced(function*(refunded: ReadonlyArray<Generation>) {
    const refunds = refunded.flatMap(({ costCredits, createdAt, keyLine }): ReadonlyArray<KeySpending.Restore> =>
      keyLine === undefined ? [] : [{ line: keyLine, credits: costCredits ?? 0, chargedAt: createdAt }]
    )
    if (refunds.length === 0) return
    const since = refunds.map(({ chargedAt }) => chargedAt).reduce(DateTime.min)
    const loaded = yield* spending.load(refunds.map(({ line }) => line), since)
    yield* spending.save(refunds.reduce(KeySpending.restore, loaded))
  })
})

const endingOf = (command: EndCommand, at: DateTime.Utc): Ending => {
  const base = { id: command.subject.id, at, failure: null, output: null, resultExpiresAt: null }
  switch (command._tag) {
    case "Cancel":
      return { ...base, status: "cancelled" }
    case "Abort":
    case "Drop":
    case "Fail":
      return { ...base, status: "failed", failure: command.failure }
    case "Complete": {
      const { output, resultTtl } = command
      return { ...base, status: "completed", output, resultExpiresAt: DateTime.addDuration(at, resultTtl) }
    }
  }
}
