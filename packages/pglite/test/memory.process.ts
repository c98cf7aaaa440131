/** A process that runs many different statements, and prints the maximum of its memory in MiB. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { PgliteClient } from "../src/index.ts"

const run = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  // Each is parsed.
  for (let number = 0; number < 3_000; number++) {
    yield* sql.unsafe(`SELECT ${number} AS number, ARRAY[1, 2, 3] AS list WHERE ${number} IN (1, 2, 3, 4, 5, 6, 7, 8)`)
  }
})

await Effect.runPromise(Effect.provide(run, PgliteClient.layer({ dataDirectory: process.argv[2] })))
process.stdout.write(String(process.resourceUsage().maxRSS / 1024))
