/**
 * Savepoints by the nested transactions of a driver. A transaction of postgres.js fails if one of its statements has
 * failed outside of these, also after a rollback to a savepoint.
 */
import type { Parameter, Query } from "./transaction.ts"

/** The operations of a driver on a transaction of the type `Tx`. */
export interface Driver<Tx> {
  /** Runs a statement. */
  readonly run: (tx: Tx, text: string, values: ReadonlyArray<Parameter>) => Promise<ReadonlyArray<object>>
  /** Runs a function in a nested transaction, and undoes it if the function rejects. */
  readonly nest: (tx: Tx, body: (inner: Tx) => Promise<void>) => Promise<unknown>
}

/** Returns what runs statements in a transaction, of which those for savepoints begin and end nested ones. */
export const queryOf = <Tx>(tx: Tx, driver: Driver<Tx>): Query => {
  const scopes: Array<Scope<Tx>> = []
  return async (text, values) => {
    const current = scopes.at(-1)?.tx ?? tx
    const [, command, name] = statement.exec(text) ?? []
    if (name === undefined) return { rows: await driver.run(current, text, values) }
    if (command === "SAVEPOINT") scopes.push(await open(current, driver, name))
    else await end(scopes, name, command === "RELEASE SAVEPOINT")
    return { rows: [] }
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const statement = /^(SAVEPOINT|RELEASE SAVEPOINT|ROLLBACK TO SAVEPOINT) (\w+)$/

/** A nested transaction in place of a savepoint. */
interface Scope<Tx> {
  readonly name: string
  readonly tx: Tx
  /** Releases it or rolls it back. */
  readonly end: (isReleased: boolean) => Promise<unknown>
}

const open = <Tx>(outer: Tx, { nest }: Driver<Tx>, name: string): Promise<Scope<Tx>> =>
  new Promise((resolve, reject) => {
    const rolledBack = new Error("The savepoint was rolled back")
    const body = (tx: Tx) =>
      new Promise<void>((release, rollBack) => {
        const end = (isReleased: boolean) => {
          if (isReleased) release()
          else rollBack(rolledBack)
          return ended
        }
        resolve({ name, tx, end })
      })
    const ended = nest(outer, body).catch((error: unknown) => {
      if (error !== rolledBack) throw error
    })
    // Also if it could not begin. Nothing else may await it if the connection is lost.
    ended.catch(reject)
  })

/** Ends a savepoint and those in it. One that is not open was rolled back, which has released it, too. */
const end = async <Tx>(scopes: Array<Scope<Tx>>, name: string, isReleased: boolean): Promise<void> => {
  if (!scopes.some((scope) => scope.name === name)) return
  for (let scope = scopes.pop(); scope !== undefined; scope = scopes.pop()) {
    await scope.end(isReleased)
    if (scope.name === name) return
  }
}
