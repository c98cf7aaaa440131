import { inject } from "@effect/vitest"
import type { ModelInput } from "@kinora/catalog/Model"
import * as TestDatabase from "@kinora/testkit/TestDatabase"
import { Effect } from "effect"
import * as Site from "../src/Site.ts"

/** The databases that hosts run on. */
export const databases = ["PGlite", "Postgres"] as const

/** A site with a database of its own: an empty Postgres, or an initialised PGlite. */
export const makeSite = (database: Database, models?: ReadonlyArray<ModelInput>) =>
  Effect.flatMap(
    databaseUrlOf(database),
    (databaseUrl) => Site.make({ databaseUrl, models, pgliteDump: inject("hostPgliteDump") })
  )

/** A site on which the first host initialises the database, as users see it. */
export const makeEmptySite = (database: Database) =>
  Effect.flatMap(databaseUrlOf(database), (databaseUrl) => Site.make({ databaseUrl }))

type Database = typeof databases[number]

const databaseUrlOf = (database: Database) => database === "Postgres" ? TestDatabase.postgresUrl : Effect.succeed("")
