/** Statements on the owners of `api_keys_key`. */
import * as Pipelining from "@kinora/persistence/Pipelining"
import type { Statements } from "@kinora/persistence/SqlStore"
import { Effect } from "effect"
import type { ApiKeyStore } from "../../ApiKeyStore.ts"

/** Locks an owner, and deletes its keys. */
export const owners: Pick<Statements<ApiKeyStore["Service"]>, "deleteKeys" | "lockOwner"> = {
  // Writes the row without a change. In a transaction at REPEATABLE READ or SERIALIZABLE whose snapshot is older than the
  // last change of the owner, this is a conflict; a lock alone would let it decide on the keys of that snapshot. With
  // the condition, it is sent together with BEGIN.
  lockOwner: (sql, owner) =>
    Effect.flatMap(Pipelining.begun(sql), (begun) =>
      sql`
      INSERT INTO api_keys_owner (owner) SELECT ${owner}::text WHERE ${begun}
      ON CONFLICT (owner) DO UPDATE SET owner = excluded.owner
    `).pipe(Effect.asVoid),

  deleteKeys: (sql, owner) =>
    sql`
      WITH former AS (DELETE FROM api_keys_owner WHERE owner = ${owner})
      DELETE FROM api_keys_key WHERE owner = ${owner}
      RETURNING 1
    `.pipe(Effect.map((rows) => rows.length))
}
