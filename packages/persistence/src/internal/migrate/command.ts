/** The command `kinora-migrate`, without the process that runs it. */
import { Data, Effect, Layer } from "effect"
import type { SqlClient } from "effect/sql"
import * as External from "../../external.ts"
import * as Migrations from "../../Migrations.ts"
import type { StorageError } from "../../StorageError.ts"
import { openPool } from "../external/openPool.ts"
import { type Arguments, help, parse } from "./arguments.ts"
import * as SqlText from "./sqlText.ts"

/** The surroundings of the command. */
export interface Surroundings {
  /** Imports a module by its name, as a file of the project would. Rejects if it is not installed. */
  readonly load: (name: string) => Promise<unknown>
  /** The value of `DATABASE_URL`. */
  readonly databaseUrl: string | undefined
}

/** The output of the command. */
export interface Output {
  readonly exitCode: 0 | 1 | 2 | 3
  readonly stdout: string
  readonly stderr: string
}

/** Runs the command. */
export const run = (args: ReadonlyArray<string>, surroundings: Surroundings): Effect.Effect<Output> => {
  const parsed = parse(args)
  if (parsed === "help") return Effect.succeed({ exitCode: 0, stdout: help, stderr: "" })
  if ("problem" in parsed) return Effect.succeed(invalid(parsed.problem))
  return act(parsed, surroundings).pipe(
    Effect.catchTag("Invalid", ({ problem }) => Effect.succeed(invalid(problem))),
    Effect.catchTag(
      "Failed",
      ({ problem }) => Effect.succeed<Output>({ exitCode: 1, stdout: "", stderr: `${problem}\n` })
    )
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** A call that cannot be executed because of its arguments. */
class Invalid extends Data.TaggedError("Invalid")<{ readonly problem: string }> {}

/** A package or a database that failed. */
class Failed extends Data.TaggedError("Failed")<{ readonly problem: string }> {}

const invalid = (problem: string): Output => ({
  exitCode: 2,
  stdout: "",
  stderr: `${problem}\nkinora-migrate --help lists the commands and options.\n`
})

interface Package {
  readonly name: string
  readonly migrations: Migrations.Relocatable
}

const act = Effect.fnUntraced(function*(parsed: Arguments, surroundings: Surroundings) {
  const packages = yield* Effect.forEach(parsed.packages, (name) => find(name, parsed.schema, surroundings))
  switch (parsed.action) {
    case "sql":
    case "down":
      return yield* print(packages, parsed)
    case "up":
      return yield* withDatabase(parsed, surroundings, up(packages, parsed))
    case "status":
      return yield* withDatabase(parsed, surroundings, status(packages, parsed))
  }
})

/** Loads the migrations of a package, and places them in the schema. */
const find = Effect.fnUntraced(function*(name: string, schema: string | undefined, { load }: Surroundings) {
  const module = `${/[@/]/.test(name) ? name : `@kinora/${name}`}/migrations`
  const loaded = yield* Effect.tryPromise({
    try: () => load(module),
    catch: (error) =>
      new Failed({
        problem: `${module} cannot be loaded from this directory. Is the package installed? ${messageOf(error)}`
      })
  })
  const migrations = migrationsOf(loaded)
  if (migrations === undefined) return yield* new Failed({ problem: `${module} does not export migrations` })
  if (!isRelocatable(migrations)) {
    return yield* new Failed({ problem: `${module} does not state what it creates (objects)` })
  }
  if (schema === undefined) return { name, migrations }
  const placed = yield* Effect.try({
    try: () => Migrations.inSchema(migrations, schema),
    catch: (error) => new Invalid({ problem: messageOf(error) })
  })
  return { name, migrations: placed }
})

const migrationsOf = (module: unknown): Migrations.Migrations | undefined => {
  if (typeof module !== "object" || module === null || !("migrations" in module)) return undefined
  const { migrations } = module
  if (typeof migrations !== "object" || migrations === null) return undefined
  // A module that exports both is one of a package, whose type states the rest.
  return "namespace" in migrations && "migrations" in migrations ? migrations as Migrations.Migrations : undefined
}

const isRelocatable = (migrations: Migrations.Migrations): migrations is Migrations.Relocatable =>
  migrations.objects !== undefined

const print = Effect.fnUntraced(
  function*(packages: ReadonlyArray<Package>, { action, after, isJson, schema }: Arguments) {
    const written = yield* Effect.forEach(
      packages,
      Effect.fnUntraced(function*({ migrations, name }) {
        if (action === "down") return { package: name, schema: schema ?? null, sql: SqlText.down(migrations) }
        const numbers = SqlText.numbered(migrations).map(({ number }) => number)
        if (after !== 0 && !numbers.includes(after)) {
          return yield* new Invalid({ problem: `${name} has no migration ${after}. It has ${numbers.join(", ")}` })
        }
        const sql = yield* Effect.catchDefect(
          SqlText.up(migrations, after),
          (defect) => Effect.fail(new Failed({ problem: messageOf(defect) }))
        )
        return { package: name, schema: schema ?? null, after, newest: numbers.at(-1) ?? 0, sql }
      })
    )
    return ok(isJson ? json(written) : written.map(({ sql }) => sql).join("\n"))
  }
)

const up = Effect.fnUntraced(function*(packages: ReadonlyArray<Package>, { isJson, schema }: Arguments) {
  const states = (list: ReadonlyArray<Package>) =>
    Effect.forEach(list, ({ migrations }) => Migrations.stateOf(migrations))
  const before = yield* states(packages)
  yield* Migrations.run(packages.map(({ migrations }) => migrations))
  const after = yield* states(packages)
  const rows = packages.map(({ name }, index) => ({
    package: name,
    schema: schema ?? null,
    before: before[index]!.found,
    after: after[index]!.found
  }))
  return ok(
    isJson
      ? json(rows)
      : rows.map(({ after, before, package: name }) =>
        before === after
          ? `${name}: at migration ${after} already\n`
          : `${name}: from migration ${before} to ${after}\n`
      ).join("")
  )
})

const status = Effect.fnUntraced(function*(packages: ReadonlyArray<Package>, { isJson, schema }: Arguments) {
  const rows = yield* Effect.forEach(packages, ({ migrations, name }) =>
    Migrations.stateOf(migrations).pipe(
      Effect.map((found) => ({ ...found, state: stateName(found) })),
      Effect.catchTag("SchemaMismatch", ({ found, known }) => Effect.succeed({ found, known, state: "incompatible" })),
      Effect.map((found) => ({ package: name, schema: schema ?? null, ...found }))
    ))
  const usable = rows.every(({ state }) => state === "up to date" || state === "newer")
  const table = [
    ["PACKAGE", "DATABASE", "PACKAGE HAS", "STATE"],
    ...rows.map(({ found, known, package: name, state }) => [name, String(found), String(known), state])
  ]
  return { ...ok(isJson ? json(rows) : aligned(table)), exitCode: usable ? 0 : 3 } satisfies Output
})

const stateName = ({ found, known }: Migrations.State) =>
  found === 0 && known > 0 ? "not installed" : found < known ? "pending" : found > known ? "newer" : "up to date"

/** Runs an effect on a connection to the database, and describes a failure in one line. */
const withDatabase = Effect.fnUntraced(function*(
  { url }: Arguments,
  { databaseUrl }: Surroundings,
  effect: Effect.Effect<Output, Migrations.SchemaMismatch | StorageError, SqlClient.SqlClient>
) {
  const target = url ?? databaseUrl
  if (target === undefined) return yield* new Invalid({ problem: "Pass --url, or set DATABASE_URL" })
  const open = Effect.tryPromise({
    try: () => openPool(target),
    catch: (error) => new Failed({ problem: `pg cannot be loaded: npm install pg. ${messageOf(error)}` })
  })
  const pool = Effect.acquireRelease(open, (pool) => Effect.promise(() => pool.end()))
  return yield* Effect.provide(effect, Layer.unwrap(Effect.map(pool, External.layerPg))).pipe(
    Effect.catchTag("SchemaMismatch", ({ message }) => Effect.fail(new Failed({ problem: message }))),
    Effect.catchTag("StorageError", (error) => Effect.fail(new Failed({ problem: causeOf(error) }))),
    Effect.catchDefect((defect) => Effect.fail(new Failed({ problem: causeOf(defect) })))
  )
})

const ok = (stdout: string): Output => ({ exitCode: 0, stdout, stderr: "" })

const json = (value: unknown) => `${JSON.stringify(value, undefined, 2)}\n`

const aligned = (rows: ReadonlyArray<ReadonlyArray<string>>) => {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  return rows.map((row) => `${row.map((cell, column) => cell.padEnd(widths[column]!)).join("  ").trimEnd()}\n`).join("")
}

/** The first line of the message, which the lists of paths of a module that is missing follow. */
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error)).split("\n")[0]!

/** The message of the innermost cause, which is that of the server. */
const causeOf = (error: unknown): string =>
  error instanceof Error && error.cause !== undefined ? causeOf(error.cause) : messageOf(error)
