import type { ModelInput } from "@kinora/catalog/Model"
import * as TestDatabase from "@kinora/testkit/TestDatabase"
import { Effect } from "effect"
import * as Site from "../src/Site.ts"

/** The databases that hosts run on. */
export const databases = ["PGlite", "Postgres"] as const

/** A site on a database of its own. */
export const makeSite = Effect.fnUntraced(function*(
  database: typeof databases[number],
  models?: ReadonlyArray<ModelInput>
) {
  const databaseUrl = database === "Postgres" ? yield* TestDatabase.postgresUrl : ""
  return yield* Site.make({ databaseUrl, models })
})
