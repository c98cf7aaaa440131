/** Transactions of postgres.js. */
import * as Nested from "./nested.ts"
import { textOf } from "./parameters.ts"
import { types } from "./pgValues.ts"
import type { Query } from "./transaction.ts"

/** The used part of the `sql` of a transaction of postgres.js. */
export interface PostgresSql {
  unsafe(text: string, parameters: Array<never>, options: { readonly prepare: boolean }): PendingRows
  typed(value: string | null, type: number): unknown
  savepoint?(body: (sql: PostgresSql) => Promise<void>): Promise<unknown>
}

/** The used part of a query of postgres.js. */
interface PendingRows {
  raw(): PromiseLike<RawRows>
}

/** The values of rows as the server has sent them. */
type RawRows = ReadonlyArray<ReadonlyArray<Uint8Array | null>> & {
  readonly columns: ReadonlyArray<{ readonly name: string; readonly type: number }> | null
  readonly state: { readonly pid: number }
}

/**
 * Returns what runs statements in a transaction. Rows are read as text with the types of their columns, whatever the
 * program has configured as `types`.
 */
export const queryOf = (sql: PostgresSql): Query => {
  let session: number | undefined
  const run: Nested.Driver<PostgresSql>["run"] = async (scope, text, values) => {
    const rows = await execute(scope, text, values)
    session ??= rows.state.pid
    // postgres.js 3.4 connects again in the middle of a transaction if other queries wait for a connection.
    if (rows.state.pid !== session) throw new Error("The session of the transaction has ended")
    return toObjects(rows)
  }
  return sql.savepoint === undefined
    ? async (text, values) => ({ rows: await run(sql, text, values) })
    : Nested.queryOf(sql, { run, nest: (scope, body) => scope.savepoint!(body) })
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The type `unknown`, for which the server infers one, and which postgres.js has no serializer for. */
const unknownType = 705

const execute = (sql: PostgresSql, text: string, values: ReadonlyArray<unknown>): PromiseLike<RawRows> => {
  const parameters = values.map((value) => sql.typed(value === null ? null : textOf(value), unknownType))
  return sql.unsafe(text, parameters as Array<never>, { prepare: true }).raw()
}

const toObjects = (rows: RawRows): ReadonlyArray<object> => {
  const columns = (rows.columns ?? []).map(({ name, type }) => ({
    names: originalsOf(name),
    parse: types.getTypeParser(type)
  }))
  return rows.map((row: unknown) => {
    if (!Array.isArray(row)) throw new TypeError("A client of postgres.js whose `transform` has `row` cannot be used")
    return Object.fromEntries(
      columns.flatMap(({ names, parse }, index) => {
        const text: Uint8Array | null = row[index]
        const value = text === null ? null : parse(decoder.decode(text))
        return names.map((name) => [name, value] as const)
      })
    )
  })
}

const decoder = new TextDecoder()

/**
 * Returns the names of a column that the `transform` of a program, such as `postgres.camel`, converts to a name. A
 * transaction of postgres.js does not expose whether there is one. A row has its value under each, since no statement
 * returns two of them.
 */
const originalsOf = (name: string): ReadonlyArray<string> => {
  const lower = name.charAt(0).toLowerCase() + name.slice(1)
  return [...new Set([name, lower, lower.replaceAll(/-|(?=[A-Z])/g, "_").toLowerCase()])]
}
