/** A process that starts from a dump, writes rows until it is killed, and prints each id once its row is acknowledged. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { openAsBlob } from "node:fs"
import { PgliteClient } from "../src/index.ts"

const write = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE acknowledged (id int PRIMARY KEY, body text NOT NULL)`
  for (let id = 1;; id++) {
    yield* sql.withTransaction(sql`INSERT INTO acknowledged VALUES (${id}, ${"x".repeat(2_000)})`)
    process.stdout.write(`${id}\n`)
  }
})

const [, , dataDirectory, dump] = process.argv
const loadDataDir = await openAsBlob(dump!)
await Effect.runPromise(Effect.provide(write, PgliteClient.layer({ dataDirectory, loadDataDir })))
