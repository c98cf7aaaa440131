/**
 * A schema of Postgres for the tables of one package.
 *
 * Statements name tables without a schema, as they do in the schema of the connection. `client` returns a client that writes
 * the name of the schema before each of them: `ledger_lot` becomes `"billing".ledger_lot`. So statements run with any
 * `search_path`, in transactions of callers and behind a pooler, which would lose a `SET`.
 *
 * The text of a template is changed once for each place in the code, so a statement costs the same with a schema as without.
 */
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

/** The names of the objects that the migrations of a package create. Indexes, constraints and triggers belong to their tables. */
export interface Objects {
  readonly tables: ReadonlyArray<string>
  readonly sequences?: ReadonlyArray<string> | undefined
  readonly functions?: ReadonlyArray<string> | undefined
}

/**
 * Returns a name of a schema in quotes. Throws a `TypeError` unless it begins with a letter or `_`, has only letters, digits and
 * `_`, at most 63, and does not begin with `pg_`, which Postgres reserves.
 */
export const quoted = (schema: string): string => {
  if (!/^(?!pg_)[a-z_][a-z0-9_]{0,62}$/i.test(schema)) {
    throw new TypeError(
      `Expected the name of a schema: a letter or "_", then letters, digits and "_", at most 63, not beginning with "pg_"; got ${
        JSON.stringify(schema)
      }`
    )
  }
  return `"${schema}"`
}

/**
 * Returns the function that writes the schema before each name of `objects` in a text of SQL, and before indexes that it drops.
 * Names in strings are included: `'ledger_lot'::regclass` has to name the same table, and the key of a lock another one in each schema.
 * Names after a dot or in double quotes are not. Throws a `TypeError` if the name of the schema is invalid.
 */
export const qualifier = (schema: string, objects: Objects) => {
  const prefix = `${quoted(schema)}.`
  const names = namesOf(objects)
  const places = new RegExp(`(?<![\\w$."])(?:${names.join("|")})(?![\\w$"])|${droppedIndex}`, "g")
  const hints = [...names, "DROP INDEX"]
  return (text: string): string =>
    // Most texts contain none of the names, and searching for plain strings is faster than the expression.
    hints.some((hint) => text.includes(hint)) ? text.replace(places, (name) => prefix + name) : text
}

/**
 * Returns a client that uses `objects` of a schema. It has the connections and transactions of the given one. Templates,
 * `unsafe`, `literal` and identifiers are qualified; fragments that were made without a client, and texts in
 * `and`, `or`, `csv` and `join`, are not. `FOR UPDATE OF` and references to a whole row need an alias of the table.
 */
export const client = (sql: SqlClient.SqlClient, schema: string, objects: Objects): SqlClient.SqlClient => {
  const qualify = qualifier(schema, objects)
  const names = new Set(namesOf(objects))
  const templates = new WeakMap<TemplateStringsArray, TemplateStringsArray>()
  const qualified = (strings: TemplateStringsArray): TemplateStringsArray => {
    const known = templates.get(strings)
    if (known !== undefined) return known
    const template = Object.assign(strings.map(qualify), { raw: strings.raw })
    templates.set(strings, template)
    return template
  }
  const statement = (strings: string | TemplateStringsArray, ...args: ReadonlyArray<unknown>) =>
    typeof strings === "string"
      // Dots separate the parts of an identifier.
      ? sql(names.has(strings) ? `${schema}.${strings}` : strings)
      : sql(qualified(strings), ...args)
  const inSchema = Object.assign(statement, sql, {
    literal: (text: string) => sql.literal(qualify(text)),
    unsafe: <A extends object>(text: string, params?: ReadonlyArray<unknown>) => sql.unsafe<A>(qualify(text), params),
    withoutTransforms: () => client(sql.withoutTransforms(), schema, objects)
  })
  // The given client is its own `safe`.
  return Object.assign(inSchema, { safe: inSchema })
}

/** Provides `client` over the surrounding client. Dies if the name of the schema is invalid. */
export const layer = (
  schema: string,
  objects: Objects
): Layer.Layer<SqlClient.SqlClient, never, SqlClient.SqlClient> =>
  Layer.effect(SqlClient.SqlClient, Effect.map(SqlClient.SqlClient, (sql) => client(sql, schema, objects)))

/** Creates a schema if it does not exist. Hosts can do it at the same time, also without the right to create one that exists. */
export const create = Effect.fnUntraced(function*(schema: string) {
  const sql = yield* SqlClient.SqlClient
  const isMissing = Effect.map(
    sql`SELECT FROM pg_namespace WHERE nspname = ${schema}`,
    ({ length }) => length === 0
  )
  if (!(yield* isMissing)) return
  // `IF NOT EXISTS` fails if another host creates the schema at the same time.
  yield* sql`CREATE SCHEMA ${sql.literal(quoted(schema))}`.pipe(
    Effect.catch((error) => Effect.flatMap(isMissing, (isMissing) => isMissing ? Effect.fail(error) : Effect.void))
  )
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** An index after `DROP INDEX` and the words that can follow it. */
const droppedIndex = String.raw`(?<=\bDROP INDEX\s+(?:CONCURRENTLY\s+)?(?:IF\s+EXISTS\s+)?)(?!CONCURRENTLY\s|IF\s)\b\w+`

const namesOf = ({ functions = [], sequences = [], tables }: Objects): ReadonlyArray<string> => [
  ...tables,
  ...sequences,
  ...functions
]
