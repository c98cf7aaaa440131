/** Gives places back. */
import { Rows } from "@kinora/persistence"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type * as Lease from "../lease.ts"

/** Deletes leases. */
export const releaseLeases = (sql: SqlClient.SqlClient, places: ReadonlyArray<Lease.Place>) =>
  sql`DELETE FROM rate_limit_place WHERE id = ANY(${Rows.array("uuid", places.map(({ id }) => id))})`.pipe(
    Effect.asVoid
  )
