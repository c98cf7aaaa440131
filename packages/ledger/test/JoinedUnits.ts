/** Units of work that join transactions of programs with drivers of their own. */
import { StorageError, UnitOfWork } from "@kinora/persistence"
import * as External from "@kinora/persistence/external"
import type * as CallerTransactions from "@kinora/testkit/CallerTransactions"
import { Effect, Exit, Layer } from "effect"

type Program = CallerTransactions.Program<External.Transaction>

/** Provides units that each join a transaction of a program, which is committed with the unit. */
export const layer = (program: Program) =>
  Layer.effect(
    UnitOfWork.UnitOfWork,
    Effect.gen(function*() {
      const own = yield* UnitOfWork.UnitOfWork
      return UnitOfWork.UnitOfWork.of({
        ...own,
        atomically: (effect) =>
          Effect.flatMap(own.isOpen, (open) => open ? own.atomically(effect) : inTransaction(own, program, effect))
      })
    })
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const inTransaction = <A, E, R>(
  own: UnitOfWork.UnitOfWork["Service"],
  program: Program,
  effect: Effect.Effect<A, E, R>
) =>
  Effect.acquireUseRelease(
    Effect.promise(() => begin(program)),
    ({ tx }) =>
      Effect.map(
        Effect.provideService(External.join(tx)(effect), UnitOfWork.UnitOfWork, own),
        (result) => ({ result, tx })
      ),
    ({ end }, exit) => Effect.promise(() => end(Exit.isSuccess(exit)))
  ).pipe(
    // A unit that joins is not repeated after a conflict, so the program repeats its transaction.
    Effect.retry({
      times: 20,
      while: (error) => error instanceof StorageError.StorageError && error.reason === "conflict"
    }),
    Effect.flatMap(({ result, tx }) => Effect.as(External.committed(tx), result))
  )

/** Begins a transaction that `end` commits or rolls back. */
const begin = ({ transaction }: Program) =>
  new Promise<{ readonly tx: External.Transaction; readonly end: (isCommitted: boolean) => Promise<void> }>(
    (resolve, reject) => {
      const finished = Promise.withResolvers<void>()
      const rolledBack = new Error("rolled back")
      const ended = transaction(({ tx }) => {
        const end = (isCommitted: boolean) => {
          if (isCommitted) finished.resolve()
          else finished.reject(rolledBack)
          return ended
        }
        resolve({ tx, end })
        return finished.promise
      }).catch((error: unknown) => {
        if (error !== rolledBack) throw error
      })
      ended.catch(reject)
    }
  )
