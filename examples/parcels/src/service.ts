/** Opens the service once per process. */
import { createWebhooks, type Webhooks } from "@kinora/webhooks/promise"
import { Pool, type PoolClient } from "pg"

/** The database and the webhooks that the routes use. */
export interface Service {
  readonly pool: Pool
  readonly webhooks: Webhooks
}

/** Returns the service, and opens it the first time. */
export const service = (): Promise<Service> =>
  globalThis.parcels ??= open().catch((error: unknown) => {
    // The next request tries again.
    globalThis.parcels = undefined
    throw error
  })

/** Commits what the body writes, or rolls it back. */
export const transaction = async (pool: Pool, body: (tx: PoolClient) => Promise<void>): Promise<void> => {
  const tx = await pool.connect()
  try {
    await tx.query("BEGIN")
    await body(tx)
    await tx.query("COMMIT")
  } catch (error) {
    await tx.query("ROLLBACK")
    throw error
  } finally {
    tx.release()
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

declare global {
  /** Next loads a module for the routes and again for `instrumentation.ts`, so the service is a property of the process. */
  var parcels: Promise<Service> | undefined
}

const open = async (): Promise<Service> => {
  const pool = new Pool({
    connectionString: process.env["DATABASE_URL"] ?? "postgres://postgres:postgres@127.0.0.1/postgres"
  })
  await pool.query(schema)
  const webhooks = await createWebhooks({
    pool,
    // Encrypts the secrets of endpoints. In production, 32 random bytes from your secret store.
    keys: [process.env["WEBHOOKS_KEY"] ?? "a key of at least thirty-two bytes"],
    // For receivers on this machine. Leave it out in production.
    guard: { allowPrivate: true }
  })
  return { pool, webhooks }
}

// Several processes can start at the same time.
const schema = `
  SELECT pg_advisory_xact_lock(4711);
  CREATE TABLE IF NOT EXISTS country (code text PRIMARY KEY);
  INSERT INTO country VALUES ('DE'), ('FR'), ('US') ON CONFLICT DO NOTHING;
  CREATE TABLE IF NOT EXISTS parcel (id text PRIMARY KEY, account text NOT NULL, country text NOT NULL REFERENCES country);
  CREATE TABLE IF NOT EXISTS received (event text PRIMARY KEY, type text NOT NULL, parcel text NOT NULL);
`
