import { createApiKeys, TooManyKeysError } from "@kinora/api-keys/promise"
import { Pool } from "pg"

const pool = new Pool({ connectionString: process.env["DATABASE_URL"] })
// Creates or updates the tables, and deletes keys that ended 90 days ago in the background.
const keys = await createApiKeys({ pool, prefix: "acme_", keysMax: 1 })
await pool.query("CREATE TABLE account (id text PRIMARY KEY)")

/** Inserts an account with its first key, both or neither. */
const open = async (owner: string) => {
  const tx = await pool.connect()
  try {
    await tx.query("BEGIN")
    await tx.query("INSERT INTO account VALUES ($1)", [owner])
    const { key } = await keys.create({ owner, name: "first key", scopes: ["read"], tx })
    await tx.query("COMMIT")
    return key
  } catch (error) {
    await tx.query("ROLLBACK")
    throw error
  } finally {
    tx.release()
  }
}

const key = await open("ada")
const record = await keys.verify({ key })
console.log(record?.owner, record?.scopes) // ada [ 'read' ]
await keys.create({ owner: "ada", name: "second key" }).catch((error: unknown) => {
  if (error instanceof TooManyKeysError) console.log(error.code) // too_many_keys
})
console.log(await keys.revokeAll({ owner: "ada" }), await keys.verify({ key })) // 1 undefined

await keys.close()
await pool.end()
