/** Transactions of Drizzle, Kysely and Knex. */
import * as Nested from "./nested.ts"
import { types } from "./pgValues.ts"
import type { Query } from "./transaction.ts"

/** The used part of a transaction of Drizzle, of any of its drivers of Postgres. */
export interface DrizzleTransaction {
  execute(query: string | { getSQL(): unknown }): PromiseLike<unknown>
  transaction(body: (tx: DrizzleTransaction) => Promise<void>): Promise<unknown>
}

/** Returns what runs statements in a transaction of Drizzle. */
export const ofDrizzle = (tx: DrizzleTransaction): Query =>
  Nested.queryOf(tx, {
    run: async (tx, text, values) => {
      // The result of a compiled `sql` of Drizzle.
      const query = { getSQL: () => ({ toQuery: () => ({ sql: text, params: [...values] }) }) }
      const result = await tx.execute(query) as ReadonlyArray<object> | { readonly rows: ReadonlyArray<object> }
      return "rows" in result ? result.rows : result
    },
    nest: (tx, body) => tx.transaction(body)
  })

/** The used part of a transaction of Kysely. */
export interface KyselyTransaction {
  withoutPlugins(): {
    executeQuery(query: CompiledQuery): PromiseLike<{ readonly rows: ReadonlyArray<unknown> }>
  }
}

/** A compiled query of Kysely. */
interface CompiledQuery {
  readonly sql: string
  readonly parameters: ReadonlyArray<unknown>
  readonly query: {
    readonly kind: "RawNode"
    readonly sqlFragments: ReadonlyArray<string>
    readonly parameters: ReadonlyArray<never>
  }
  readonly queryId: { readonly queryId: string }
}

/** Returns what runs statements in a transaction of Kysely. Plugins, which may rename columns, do not see them. */
export const ofKysely = (trx: KyselyTransaction): Query => {
  const plain = trx.withoutPlugins()
  return async (text, values) => {
    const { rows } = await plain.executeQuery({
      sql: text,
      parameters: values,
      query: { kind: "RawNode", sqlFragments: [text], parameters: [] },
      queryId: { queryId: "kinora" }
    })
    return { rows: rows as ReadonlyArray<object> }
  }
}

/** The used part of a transaction of Knex over `pg`. */
export interface KnexTransaction {
  readonly client: {
    acquireConnection(): Promise<unknown>
    query(
      connection: unknown,
      query: { readonly sql: string; readonly options: object }
    ): Promise<{ readonly response: { readonly rows: ReadonlyArray<object> } }>
  }
}

/** Returns what runs statements in a transaction of Knex. Its hooks, which may rename columns, do not see the rows. */
export const ofKnex = ({ client }: KnexTransaction): Query => async (text, values) => {
  const connection = await client.acquireConnection()
  // The options take precedence over `sql`, in which Knex replaces question marks.
  const { response } = await client.query(connection, { sql: text, options: { text, values: [...values], types } })
  return { rows: response.rows }
}
