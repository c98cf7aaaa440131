/** A process that has every way to get a Postgres loaded, and ends with the code that it is told. */
import * as EmbeddedPostgres from "../src/EmbeddedPostgres.ts"
import { startPostgres } from "../src/internal/postgresServer.ts"

await EmbeddedPostgres.load()
process.exitCode = typeof startPostgres === "function" ? Number(process.argv[2]) : undefined
