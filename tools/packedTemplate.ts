/** The templates of embedded databases, as a project has them that installed their packages from tarballs. */
import { mkdtemp, rm } from "node:fs/promises"
import { join } from "node:path"
import { run } from "./commands.ts"

/** Creates two databases in a project with `@kinora/pglite`, and returns what is wrong if they are not copies of its template. */
export const problemsOf = (directory: string): Promise<ReadonlyArray<string>> =>
  inData(directory, async (data) => {
    const databases = ["one", "another"].map((name) => join(data, name))
    const { output, passed, stdout } = await evaluate(createAll, databases, directory)
    if (!passed) return [output]
    const [one, another] = JSON.parse(stdout)
    return one === another ? [] : ["A new database is initialised, since the package has no template that it can read"]
  })

/** Opens the database of a host in a project with `@kinora/hosting`, and returns what is wrong if it is not a copy of its template. */
export const problemsOfHosts = (directory: string): Promise<ReadonlyArray<string>> =>
  inData(directory, async (data) => {
    const { output, passed, stdout } = await evaluate(checkTables, [data], directory)
    if (!passed) return [output]
    return JSON.parse(stdout) === true
      ? []
      : ["A new database is empty, since the package has no template for its migrations"]
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const inData = async <A>(directory: string, body: (data: string) => Promise<A>): Promise<A> => {
  const data = await mkdtemp(join(directory, "data-"))
  try {
    return await body(data)
  } finally {
    await rm(data, { recursive: true, force: true })
  }
}

const evaluate = (script: string, args: ReadonlyArray<string>, directory: string) =>
  run("node", ["--input-type=module", "--eval", script, ...args], directory)

/** Creates a database in each directory, and prints their identifiers. Initialising a database chooses one. */
const createAll = `import { PgliteClient } from "@kinora/pglite"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
const identifier = SqlClient.SqlClient.use((sql) => sql\`SELECT system_identifier::text AS id FROM pg_control_system()\`)
const identifiers = []
for (const dataDirectory of process.argv.slice(1)) {
  const [{ id }] = await Effect.runPromise(Effect.provide(identifier, PgliteClient.layer({ dataDirectory })))
  identifiers.push(id)
}
console.log(JSON.stringify(identifiers))`

/** Opens a new database without running migrations, and prints whether it has the tables of all of them. */
const checkTables = `import { Database, Stores } from "@kinora/hosting"
import { Migrations } from "@kinora/persistence"
import { Effect } from "effect"
const { migrations } = Stores
const [dataDirectory] = process.argv.slice(1)
const check = Effect.match(Migrations.check(migrations), { onFailure: () => false, onSuccess: () => true })
const database = Database.layer({ url: undefined, dataDirectory, migrations })
console.log(JSON.stringify(await Effect.runPromise(Effect.provide(check, database))))`
