import { PgliteClient } from "@kinora/pglite"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const program = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE IF NOT EXISTS note (id int GENERATED ALWAYS AS IDENTITY, text text NOT NULL)`
  yield* sql.withTransaction(sql`INSERT INTO note (text) VALUES ('milk'), ('bread')`)
  return yield* sql<{ readonly text: string }>`SELECT text FROM note ORDER BY id`
})

/** `{ dataDirectory: "./data" }` keeps the notes; without it they are gone with the process. */
export const notes = program.pipe(Effect.provide(PgliteClient.layer()))
