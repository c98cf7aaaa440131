/** A process that has every way to get a Postgres loaded, and ends with the code that it is told. */
import { importEmbeddedPostgres } from "../src/internal/embeddedPostgres.ts"
import { startPostgres } from "../src/internal/postgresServer.ts"

await importEmbeddedPostgres()
process.exitCode = typeof startPostgres === "function" ? Number(process.argv[2]) : undefined
