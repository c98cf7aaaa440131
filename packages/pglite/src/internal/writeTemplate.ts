/** Builds the template of an empty database in `dist`. */
import { PGlite } from "@electric-sql/pglite"
import * as NewDatabase from "./newDatabase.ts"

const database = await PGlite.create()
await NewDatabase.writeTemplate(database, NewDatabase.templateOfEmpty)
await database.close()
