/** Deletes leases. */
import { Rows } from "@kinora/persistence"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"

/** Deletes leases by id. */
export const releaseLeases = (sql: SqlClient.SqlClient, ids: ReadonlyArray<string>) =>
  sql`DELETE FROM rate_limit_place WHERE id = ANY(${Rows.array("uuid", ids)})`.pipe(Effect.asVoid)
