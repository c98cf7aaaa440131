/** Counts the network writes of transactions after their locks and after their reads, from the statements of a connection. */

/** Numbers of network writes of a transaction. `RoundTrips.Cost` describes them. */
export interface TransactionWrites {
  readonly writesAfterLock: number
  readonly writesAfterRead: number
}

/**
 * Creates a function that gets each write of a connection: its statements, and whether the client has received a response since
 * the previous one. Calls `ended` for each transaction that ends.
 */
export const observe = (ended: (writes: TransactionWrites) => void) => {
  let open: { hasLocks: boolean; writesAfterLock: number; writesAfterRead: number } | undefined
  return (statements: ReadonlyArray<string>, isAfterResponse: boolean): void => {
    if (open !== undefined && statements.length > 0) {
      if (open.hasLocks && isAfterResponse) open.writesAfterLock++
      open.writesAfterRead++
    }
    let hasRead = false
    for (const statement of statements.map(withoutComments)) {
      if (isBegin(statement)) open = { hasLocks: false, writesAfterLock: 0, writesAfterRead: 1 }
      else if (open !== undefined && isEnd(statement)) {
        ended(open)
        open = undefined
      } else if (open !== undefined) {
        open.hasLocks ||= isLocking(statement)
        hasRead ||= returnsRows(statement)
      }
    }
    // A client decides nothing on rows that arrive after it has sent the end of the transaction.
    if (open !== undefined && hasRead) open.writesAfterRead = 0
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const isBegin = (statement: string) => /^\s*BEGIN\b/i.test(statement)

/** Returns whether a statement ends the transaction. `ROLLBACK TO` ends a savepoint. */
const isEnd = (statement: string) => /^\s*(?:COMMIT|ROLLBACK)\s*;?\s*$/i.test(statement)

/** Returns whether a statement takes locks until the transaction ends, as each write does. `UPDATE` also stands for `FOR UPDATE`. */
const isLocking = (statement: string) =>
  /\b(?:INSERT|UPDATE|DELETE|MERGE|LOCK\s+TABLE|FOR\s+(?:KEY\s+)?SHARE|pg_(?:try_)?advisory_\w+)\b/i.test(statement)

/** Returns whether a statement returns rows, not only one of its parts. */
const returnsRows = (statement: string): boolean => {
  const outer = withoutParentheses(statement)
  const [verb = ""] = /\b(?:SELECT|VALUES|INSERT|UPDATE|DELETE|MERGE)\b/i.exec(outer) ?? []
  return /^(?:SELECT|VALUES)$/i.test(verb) || /\bRETURNING\b/i.test(outer)
}

const withoutComments = (statement: string): string => statement.replace(/--.*$/gm, "")

const withoutParentheses = (statement: string): string => {
  const shorter = statement.replace(/\([^()]*\)/g, "")
  return shorter === statement ? statement : withoutParentheses(shorter)
}
