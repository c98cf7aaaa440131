/** Charges, refunds, grants and holds: sets in one unit of work, and single calls that are folded into sets. */
import { Decision, Folding, Pipelining } from "@kinora/persistence"
import type { StorageError } from "@kinora/persistence/StorageError"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { DateTime, Effect, Result } from "effect"
import * as Books from "../Books.ts"
import { LedgerError, type LedgerErrorReason } from "../LedgerError.ts"
import type { LoadedBooks, Request } from "./loadedBooks.ts"

/** Creates the twelve operations. */
export const makeSetOperations = Effect.fnUntraced(
  function*({ books, foldMax }: { readonly books: LoadedBooks; readonly foldMax: number }) {
    const { atomically } = yield* UnitOfWork

    /** Decides a set in one unit of work and adopts what is accepted. */
    const decideAll = <Command extends AnyCommand, A, Refusal>(
      requestOf: (commands: ReadonlyArray<Command>) => Pick<Request, "charges" | "grants" | "holds">,
      decide: (books: Books.Books, command: Command) => Decision.Decision<Books.Books, A, Refusal>
    ) =>
    (commands: ReadonlyArray<Command>): Effect.Effect<ReadonlyArray<Result.Result<A, Refusal>>, StorageError> =>
      Effect.gen(function*() {
        if (commands.length === 0) return []
        const loaded = yield* books.load({ ...requestOf(commands), ...spanOf(commands) })
        const { results, state } = Decision.all(loaded, commands, decide)
        yield* Pipelining.atCommit(books.save(state))
        return results
      }).pipe(atomically)

    const chargeAll = decideAll((charges) => ({ charges }), Books.charge)
    const refundAll = decideAll((charges) => ({ charges }), Books.refund)
    const grantAll = decideAll((grants) => ({ grants }), Books.grant)
    const holdAll = decideAll((holds) => ({ holds }), Books.hold)
    const captureAll = decideAll((holds) => ({ holds }), Books.capture)
    const releaseAll = decideAll((holds) => ({ holds }), Books.release)

    const folded = <Command extends AnyCommand, A>(name: string, run: RunSet<Command, A>) =>
      Folding.makeResult({ name, membersMax: foldMax, keyOf: ({ account }: Command) => account, run: failing(run) })

    return {
      charge: yield* folded("Ledger.charge", chargeAll),
      chargeAll: Effect.fn("Ledger.chargeAll")(chargeAll),
      refund: yield* folded("Ledger.refund", refundAll),
      refundAll: Effect.fn("Ledger.refundAll")(refundAll),
      grant: yield* folded("Ledger.grant", grantAll),
      grantAll: Effect.fn("Ledger.grantAll")(grantAll),
      hold: yield* folded("Ledger.hold", holdAll),
      holdAll: Effect.fn("Ledger.holdAll")(holdAll),
      capture: yield* folded("Ledger.capture", captureAll),
      captureAll: Effect.fn("Ledger.captureAll")(captureAll),
      release: yield* folded("Ledger.release", releaseAll),
      releaseAll: Effect.fn("Ledger.releaseAll")(releaseAll)
    }
  }
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface AnyCommand {
  readonly account: string
  readonly reference: string
  readonly at: DateTime.Utc
}

type RunSet<Command, A> = (
  commands: ReadonlyArray<Command>
) => Effect.Effect<ReadonlyArray<Result.Result<A, LedgerErrorReason>>, StorageError>

/** Wraps refusals in `LedgerError`. */
const failing = <Command, A>(run: RunSet<Command, A>) => (commands: ReadonlyArray<Command>) =>
  Effect.map(run(commands), (results) => results.map(Result.mapError((reason) => new LedgerError({ reason }))))

/** The earliest and the latest time of the commands. */
const spanOf = (commands: ReadonlyArray<AnyCommand>): Pick<Request, "at" | "until"> => {
  const times = commands.map(({ at }) => at)
  return {
    at: times.reduce((earliest, at) => DateTime.min(earliest, at)),
    until: times.reduce((latest, at) => DateTime.max(latest, at))
  }
}
