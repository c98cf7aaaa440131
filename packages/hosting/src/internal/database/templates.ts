/** Templates of embedded databases that have the tables of this build, so that a first start runs no migrations. */
import { PgClient } from "@effect/sql-pg"
import { Migrations } from "@kinora/persistence"
import { PgliteClient } from "@kinora/pglite"
import { Effect, Layer } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import type { Connection } from "effect/sql/SqlConnection"
import { createHash } from "node:crypto"
import { mkdir, readdir, rm } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

/** Directory of the templates in this package. The script `template` writes one there. */
export const builtTemplates = fileURLToPath(new URL("../../../dist", import.meta.url))

/**
 * Returns the path of the template for these migrations, as `PgliteClient.layer` takes it. Its name has a digest of all
 * statements that the migrations run and of their indexes: a template that others have made has another name, and is not
 * found.
 */
export const pathOf = (
  packages: ReadonlyArray<Migrations.Migrations>,
  directory = builtTemplates
): Effect.Effect<string> =>
  Effect.gen(function*() {
    const hash = createHash("sha256")
    for (const { indexes = {}, migrations, namespace } of packages) {
      hash.update(JSON.stringify([namespace, indexes]))
      for (const [name, migration] of Object.entries(migrations)) {
        hash.update(JSON.stringify([name, yield* statementsOf(migration)]))
      }
    }
    return join(directory, `${prefix}${hash.digest("hex").slice(0, 16)}`)
  })

/** Writes the template for these migrations, and removes those for others. */
export const write = Effect.fnUntraced(function*(
  packages: ReadonlyArray<Migrations.Migrations>,
  directory = builtTemplates
) {
  yield* Effect.promise(async () => {
    await mkdir(directory, { recursive: true })
    const older = (await readdir(directory)).filter((name) => name.startsWith(prefix))
    for (const name of older) await rm(join(directory, name))
  })
  yield* PgliteClient.writeTemplate(yield* pathOf(packages, directory), Migrations.run(packages))
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** How the names of templates begin. */
const prefix = "template-"

type Migration = Migrations.Migrations["migrations"][string]

/** Returns the statements that a migration runs on an empty database, with their parameters, as lines of JSON. */
const statementsOf = Effect.fnUntraced(function*(migration: Migration) {
  const statements: Array<string> = []
  yield* Effect.orDie(Effect.provide(migration, recording((line) => statements.push(line))))
  return statements
})

/** A client that passes on statements and returns no rows. */
const recording = (push: (line: string) => void) => {
  const execute = (text: string, parameters: ReadonlyArray<unknown> = []) =>
    Effect.sync((): ReadonlyArray<never> => {
      push(JSON.stringify([text, parameters]))
      return []
    })
  const connection: Connection = {
    execute,
    executeRaw: execute,
    executeStream: () => {
      throw new Error("A migration streams no rows")
    },
    executeUnprepared: execute,
    executeValues: execute,
    executeValuesUnprepared: execute
  }
  const acquirer = Effect.succeed(connection)
  const compiler = PgClient.makeCompiler()
  return Layer.effect(SqlClient.SqlClient, SqlClient.make({ acquirer, compiler, driver: "text", spanAttributes: [] }))
    .pipe(Layer.provide(Reactivity.layer))
}
