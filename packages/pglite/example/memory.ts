import { PgliteClient } from "@kinora/pglite"
import { Console, Effect } from "effect"
import { SqlClient } from "effect/sql"

const program = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE IF NOT EXISTS note (id int GENERATED ALWAYS AS IDENTITY, text text NOT NULL)`
  yield* sql.withTransaction(sql`INSERT INTO note (text) VALUES ('milk'), ('bread')`)
  yield* Console.log(yield* sql`SELECT id, text FROM note ORDER BY id`)
})

await Effect.runPromise(Effect.provide(program, PgliteClient.layer()))
// [ { id: 1, text: 'milk' }, { id: 2, text: 'bread' } ]
