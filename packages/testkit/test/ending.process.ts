/** Loads every module that can start a Postgres, then exits with the code in its argument. */
import * as EmbeddedPostgres from "../src/EmbeddedPostgres.ts"
import { startPostgres } from "../src/internal/postgresServer.ts"

await EmbeddedPostgres.load()
process.exitCode = typeof startPostgres === "function" ? Number(process.argv[2]) : undefined
