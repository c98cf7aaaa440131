/**
 * Every way in which a generation ends. The job leaves its lane, what was charged
 * goes back unless there is a result, and the oldest job that waits in the lane
 * gets the slot, and webhooks are told: one unit of work for a whole set.
 */
import * as Books from "@kinora/ledger/Books"
import { Ledger } from "@kinora/ledger/Ledger"
import type { Decision } from "@kinora/persistence/Decision"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import type { Lease } from "@kinora/scheduler/Job"
import * as Lanes from "@kinora/scheduler/Lanes"
import { Scheduler } from "@kinora/scheduler/Scheduler"
import type { AlreadyRunning, LeaseLost, NotFound } from "@kinora/scheduler/SchedulerError"
import { Webhooks } from "@kinora/webhooks/Webhooks"
import { DateTime, type Duration, Effect, Result } from "effect"
import { Changes } from "../../Changes.ts"
import { type Failure, GenerationId, type Output } from "../../Generation.ts"
import * as GenerationEvent from "../../GenerationEvent.ts"
import { type Ending, GenerationStore, type Subject } from "../../GenerationStore.ts"
import { addressOf } from "../jobAddress.ts"
import * as Metrics from "../metrics.ts"

/** Asks to end a generation. */
export type EndCommand =
  /** Its owner does not want it any more. Only before it starts. */
  | { readonly _tag: "Cancel"; readonly subject: Subject }
  /** It waited too long, or cannot be served. Only before it starts. */
  | { readonly _tag: "Drop"; readonly subject: Subject; readonly failure: Failure }
  /** Its worker stored the result. */
  | {
    readonly _tag: "Complete"
    readonly subject: Subject
    readonly lease: Lease
    readonly output: Output
    /** How long the result can be downloaded (D29). */
    readonly resultTtl: Duration.Input
  }
  /** Its worker gave it up. */
  | { readonly _tag: "Fail"; readonly subject: Subject; readonly lease: Lease; readonly failure: Failure }

/**
 * What became of a command:
 *
 * - `Ended`: what it asked for.
 * - `Started`: a worker has the job, so it can only end by that worker.
 * - `Gone`: it ended before, or the lease is another's. Nothing was changed.
 */
export type EndOutcome = "Ended" | "Started" | "Gone"

/** Ends a set of generations, one outcome each, in order. Belongs to the open unit, or is one of its own. */
export const makeEndAll = Effect.gen(function*() {
  const { afterCommit, atomically } = yield* UnitOfWork
  const ledger = yield* Ledger
  const scheduler = yield* Scheduler
  const store = yield* GenerationStore
  const changes = yield* Changes
  const webhooks = yield* Webhooks

  return Effect.fn("Generations.endAll")(function*(commands: ReadonlyArray<EndCommand>) {
    const at = yield* DateTime.now
    const addresses = commands.map(({ subject }) => addressOf(subject))
    let books = yield* ledger.load({
      charges: commands.filter(isRefunded).map(({ subject }) => ({ account: subject.account, reference: subject.id })),
      at
    })
    let lanes = yield* scheduler.load({ lanes: addresses, jobs: addresses })

    const endings: Array<Ending> = []
    const outcomes = commands.map((command, index): EndOutcome => {
      const { id } = command.subject
      const ended: Decision<Lanes.Lanes, Lanes.Ended, LeaseLost | NotFound | AlreadyRunning> = "lease" in command
        ? Lanes.settle(lanes, command.lease)
        : Lanes.cancel(lanes, addresses[index]!.job)
      if (Result.isFailure(ended)) return ended.failure._tag === "AlreadyRunning" ? "Started" : "Gone"
      lanes = ended.success.state
      if (command._tag !== "Complete") {
        const refund = Books.refund(books, { account: command.subject.account, reference: id, at })
        // Every generation is charged in the unit that makes its job, so one without a charge is corruption.
        books = Result.getOrThrow(refund).state
      }
      endings.push(endingOf(command, at))
      return "Ended"
    })

    yield* ledger.save(books)
    const { promoted } = yield* scheduler.save(lanes)
    const queued = promoted.map(GenerationId.fromUuid)
    const changed = endings.length > 0 ? yield* store.end(endings) : []
    if (queued.length > 0) yield* store.queue(queued)
    yield* webhooks.publish(GenerationEvent.ofChanged(changed))
    yield* afterCommit(changes.publish(endings.map(({ id }) => id).concat(queued)))
    yield* afterCommit(Metrics.ended(changed))
    return outcomes
  }, atomically)
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const isRefunded = ({ _tag }: EndCommand) => _tag !== "Complete"

const endingOf = (command: EndCommand, at: DateTime.Utc): Ending => {
  const nothing = { id: command.subject.id, at, failure: null, output: null, resultExpiresAt: null }
  switch (command._tag) {
    case "Cancel":
      return { ...nothing, status: "cancelled" }
    case "Drop":
    case "Fail":
      return { ...nothing, status: "failed", failure: command.failure }
    case "Complete": {
      const { output, resultTtl } = command
      return { ...nothing, status: "completed", output, resultExpiresAt: DateTime.addDuration(at, resultTtl) }
    }
  }
}
