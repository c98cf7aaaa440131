import { Books, Ledger } from "@kinora/ledger"
import { UnitOfWork } from "@kinora/persistence"
import { DateTime, Effect, Result } from "effect"

/** Charges for each job of a set that `accept` accepts, in one unit of work. */
export const chargeJobs = Effect.fn("chargeJobs")(
  function*(account: string, jobs: ReadonlyArray<string>, accept: (job: string) => boolean) {
    const { atomically } = yield* UnitOfWork.UnitOfWork
    const ledger = yield* Ledger.Ledger
    const at = yield* DateTime.now
    return yield* atomically(Effect.gen(function*() {
      let books = yield* ledger.load({ charges: jobs.map((reference) => ({ account, reference })), at })
      const charged: Array<string> = []
      for (const reference of jobs) {
        const amount = { _tag: "Credits", credits: 40 } as const
        const charge = Books.charge(books, { account, reference, amount, at })
        if (Result.isFailure(charge) || !accept(reference)) continue
        books = charge.success.state
        charged.push(reference)
      }
      yield* ledger.save(books)
      return charged
    }))
  }
)
