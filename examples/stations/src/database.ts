/** The table of the service, for Prisma on a pool of `pg`. */
import { PrismaPg } from "@prisma/adapter-pg"
import { Pool } from "pg"
import { PrismaClient } from "../generated/client.ts"

/** Prisma, and the pool that it shares with the keys. */
export interface Database {
  readonly pool: Pool
  readonly prisma: PrismaClient
}

/** Opens Prisma on a pool of connections, and creates the table if it is missing. */
export const openDatabase = async (connectionString: string): Promise<Database> => {
  const pool = new Pool({ connectionString, max: 20 })
  // A lost connection fails the statement that uses it. The event would end the process if nothing listened.
  pool.on("connect", (client) => client.on("error", () => {}))
  pool.on("error", () => {})
  await pool.query(schema)
  // A busy machine needs longer than the 2 and 5 seconds of the defaults.
  const transactionOptions = { maxWait: 10_000, timeout: 20_000 }
  return { pool, prisma: new PrismaClient({ adapter: new PrismaPg(pool), transactionOptions }) }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

// With the lock, several processes can start at the same time.
const schema = `
  SELECT pg_advisory_xact_lock(4711);
  CREATE TABLE IF NOT EXISTS station (
    id text PRIMARY KEY, place text NOT NULL CONSTRAINT station_place_key UNIQUE, celsius float8
  );
`
