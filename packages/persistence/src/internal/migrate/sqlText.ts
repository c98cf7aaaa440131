/** Migrations as text, for tools that run SQL, such as Flyway or `psql`. */
import { Effect, Layer } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import type { Connection } from "effect/sql/SqlConnection"
import * as DatabaseSchema from "../../DatabaseSchema.ts"
import type { Relocatable } from "../../Migrations.ts"
import { compiler } from "../external/client.ts"

/**
 * Returns the statements that bring a database from migration `after` to the newest one, and record it. They leave the same
 * tables, functions and records as `Migrations.run`. A database at another migration stops them. Dies if `after` is not the
 * number of a migration, or 0.
 */
export const up = Effect.fnUntraced(function*(self: Relocatable, after: number) {
  const { namespace, schema } = self
  const table = recordsOf(self)
  const pending = numbered(self).filter(({ number }) => number > after)
  const parts = [
    `-- ${namespace}${schema === undefined ? "" : ` in the schema ${schema}`}: ${rangeOf(after, pending)}.`,
    ...after === 0 ? beginning(self) : [guard(table, after)]
  ]
  for (const { migration, name, number } of pending) {
    const statements = yield* record(self, migration)
    const label = name.replace(/^\d+_/, "")
    parts.push(
      `-- ${name}`,
      ...statements.map((text) => `${text};`),
      `INSERT INTO ${table} (migration_id, name) VALUES (${number}, '${label.replaceAll("'", "''")}');`
    )
  }
  return [...parts, ...indexesOf(self, after)].join("\n\n") + "\n"
})

/** Returns the statements that remove the package, with its data, from a database. */
export const down = (self: Relocatable): string => {
  const { functions = [], sequences = [], tables } = self.objects
  const qualified = (names: ReadonlyArray<string>) => names.map((name) => `${prefixOf(self)}${name}`).join(", ")
  return [
    `-- Removes ${self.namespace}${self.schema === undefined ? "" : ` from the schema ${self.schema}`}, with its data.`,
    `DROP TABLE IF EXISTS ${qualified([...tables, `${self.namespace}_migrations`])};`,
    ...sequences.length === 0 ? [] : [`DROP SEQUENCE IF EXISTS ${qualified(sequences)};`],
    ...functions.length === 0 ? [] : [`DROP FUNCTION IF EXISTS ${qualified(functions)};`]
  ].join("\n\n") + "\n"
}

/** Returns the migrations in the order of their numbers. */
export const numbered = ({ migrations }: Relocatable) =>
  Object.entries(migrations)
    .map(([name, migration]) => ({ name, migration, number: Number.parseInt(name, 10) }))
    .toSorted((one, other) => one.number - other.number)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Migration = Relocatable["migrations"][string]

const prefixOf = ({ schema }: Relocatable) => schema === undefined ? "" : `${DatabaseSchema.quoted(schema)}.`

const recordsOf = (self: Relocatable) => `${prefixOf(self)}${self.namespace}_migrations`

const rangeOf = (after: number, pending: ReadonlyArray<{ readonly number: number }>) => {
  const last = pending.at(-1)?.number
  return last === undefined ? "no pending migration" : `migrations ${after + 1} to ${last}`
}

/** The schema and the table of records. The latter is the table that the migrator of Effect creates. */
const beginning = (self: Relocatable): ReadonlyArray<string> => [
  ...self.schema === undefined ? [] : [`CREATE SCHEMA IF NOT EXISTS ${DatabaseSchema.quoted(self.schema)};`],
  `CREATE TABLE ${recordsOf(self)} (
  migration_id integer primary key,
  created_at timestamp with time zone not null default now(),
  name text not null
);`
]

const guard = (table: string, after: number) =>
  `DO $$
BEGIN
  IF (SELECT max(migration_id) FROM ${table}) IS DISTINCT FROM ${after} THEN
    RAISE EXCEPTION 'Expected ${table.replaceAll("'", "''")} at migration ${after}';
  END IF;
END
$$;`

/**
 * Indexes that `Migrations.run` builds without blocking writes, which no statement in a transaction can. Those that exist
 * already stay.
 */
const indexesOf = (self: Relocatable, after: number): ReadonlyArray<string> => {
  const { indexes = {}, objects, replacedIndexes = [], schema } = self
  const qualify = schema === undefined
    ? (text: string) => text
    : DatabaseSchema.qualifier(schema, objects)
  const prefix = schema === undefined ? "" : `${DatabaseSchema.quoted(schema)}.`
  const statements = [
    ...Object.entries(indexes).map(([name, definition]) =>
      `CREATE INDEX IF NOT EXISTS ${name} ${qualify(definition)};`
    ),
    ...replacedIndexes.map((name) => `DROP INDEX IF EXISTS ${prefix}${name};`)
  ]
  if (statements.length === 0) return []
  const hint = after === 0
    ? "-- Indexes of tables that can have many rows"
    : "-- Indexes. These statements block writes while they run. If a table has many rows, run them outside of a transaction\n"
      + "-- with CREATE INDEX CONCURRENTLY, or leave them out: the next start of the program builds them that way."
  return [hint, ...statements]
}

/** Returns the statements that a migration runs. Dies if one has parameters, since its text would be incomplete. */
const record = (self: Relocatable, migration: Migration) =>
  Effect.gen(function*() {
    const texts: Array<string> = []
    const push = (text: string, parameters: ReadonlyArray<unknown> = []) =>
      Effect.sync((): ReadonlyArray<never> => {
        if (parameters.length > 0) {
          throw new Error(`A migration of ${self.namespace} has parameters, so it cannot be written as text`)
        }
        texts.push(aligned(text))
        return []
      })
    yield* Effect.provide(Effect.orDie(migration), recording(self, push))
    return texts
  })

type Push = (text: string, parameters?: ReadonlyArray<unknown>) => Effect.Effect<ReadonlyArray<never>>

const recording = ({ objects, schema }: Relocatable, push: Push) => {
  const connection: Connection = {
    execute: push,
    executeRaw: push,
    executeStream: () => {
      throw new Error("A migration streams no rows")
    },
    executeUnprepared: push,
    executeValues: push,
    executeValuesUnprepared: push
  }
  const client = Layer.effect(
    SqlClient.SqlClient,
    SqlClient.make({ acquirer: Effect.succeed(connection), compiler, driver: "text", spanAttributes: [] })
  ).pipe(Layer.provide(Reactivity.layer))
  return schema === undefined
    ? client
    : Layer.provide(DatabaseSchema.layer(schema, objects), client)
}

/** Removes the indentation of the source. Bodies of functions keep theirs, since Postgres stores them with it. */
const aligned = (text: string): string => {
  const trimmed = text.trim()
  if (trimmed.includes("$$")) return trimmed
  const lines = trimmed.split("\n")
  const indents = lines.slice(1).filter((line) => line.trim() !== "").map((line) => line.search(/\S/))
  const indent = indents.length === 0 ? 0 : Math.min(...indents)
  return lines.map((line, index) => index === 0 ? line : line.slice(indent)).join("\n")
}
