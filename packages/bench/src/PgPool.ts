/** Pools of `pg`, for peers. */
import { Pool } from "pg"

/**
 * A pool of 16. `end` answers before its connections are gone, and the round's
 * database is dropped under them; what is lost in the middle of a round fails a call
 * of that round.
 */
export const make = (url: string | undefined): Pool =>
  new Pool({ connectionString: url, max: 16 }).on("error", () => {})
