/**
 * Statements that go with `BEGIN` in one network write. If `BEGIN` fails, the server runs them outside of a transaction, where a
 * write would take effect.
 */

/**
 * Begins a transaction that `hasBegun` recognizes. The property changes nothing else, since it is for serializable transactions
 * that only read.
 */
export const recognizedBegin = "BEGIN DEFERRABLE"

/** A condition that holds in a transaction of `recognizedBegin`. */
export const hasBegun = "current_setting('transaction_deferrable')::bool"

/** A condition that always holds. */
export const always = "TRUE"

/** Returns whether a statement has no effect outside of a transaction: it only reads, or has the condition. */
export const mayFollow = (sql: string): boolean => isRead(sql) || sql.includes(hasBegun)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Returns whether a statement is certainly one that writes nothing. */
const isRead = (sql: string): boolean =>
  /^\s*SELECT\b/i.test(sql) || /^\s*WITH\b/i.test(sql) && !/\b(INSERT|UPDATE|DELETE|MERGE)\b/i.test(sql)
