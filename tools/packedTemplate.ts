/** The template of embedded databases, as a project has it that installed `@kinora/pglite` from its tarball. */
import { mkdtemp, rm } from "node:fs/promises"
import { join } from "node:path"
import { run } from "./commands.ts"

/** Creates two databases in a project, and returns what is wrong if they are not copies of the template. */
export const problemsOf = async (directory: string): Promise<ReadonlyArray<string>> => {
  const data = await mkdtemp(join(directory, "data-"))
  try {
    const databases = ["one", "another"].map((name) => join(data, name))
    const args = ["--input-type=module", "--eval", createAll, ...databases]
    const { output, passed, stdout } = await run("node", args, directory)
    if (!passed) return [output]
    const [one, another] = JSON.parse(stdout)
    return one === another ? [] : ["A new database is initialised, since the package has no template that it can read"]
  } finally {
    await rm(data, { recursive: true, force: true })
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

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
