/** The tables of the shop, and transactions on its pool of `pg`. */
import { Pool, type PoolClient } from "pg"

const schema = `
  CREATE TABLE IF NOT EXISTS country (code text PRIMARY KEY);
  INSERT INTO country VALUES ('DE'), ('FR'), ('US') ON CONFLICT DO NOTHING;
  CREATE TABLE IF NOT EXISTS print (
    id text PRIMARY KEY, account text NOT NULL, copies int NOT NULL, cancelled bool NOT NULL DEFAULT false
  );
  CREATE TABLE IF NOT EXISTS shipment (print text PRIMARY KEY REFERENCES print, country text NOT NULL REFERENCES country);
`

/** Opens a pool of connections to the shop's database, and creates its tables if they are missing. */
export const openPool = async (connectionString: string): Promise<Pool> => {
  const pool = new Pool({ connectionString, max: 20 })
  // A lost connection fails the statement that uses it. The event would end the process if nothing listened.
  pool.on("connect", (client) => client.on("error", () => {}))
  pool.on("error", () => {})
  await pool.query(schema)
  return pool
}

/** Commits what the body writes, or rolls it back if the body rejects. */
export const transaction = async <A>(pool: Pool, body: (tx: PoolClient) => Promise<A>): Promise<A> => {
  const tx = await pool.connect()
  let isBroken = false
  try {
    await tx.query("BEGIN")
    const result = await body(tx)
    await tx.query("COMMIT")
    return result
  } catch (error) {
    await tx.query("ROLLBACK").catch(() => {
      isBroken = true
    })
    throw error
  } finally {
    tx.release(isBroken)
  }
}
