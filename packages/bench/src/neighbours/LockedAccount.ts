/** An account whose rows are locked by a transaction that does not end. */
import { Client } from "pg"
import { ask, type Attack, jsonHeaders, repeat } from "./Attack.ts"
import { models } from "./models.ts"

const callers = 16

/** Locks the account in the ledger and in the scheduler, and creates jobs of it. */
export const attack: Attack = async ({ database, keys: [key = ""], origin }) => {
  const headers = jsonHeaders(key)
  const bodyOf = (n: number) =>
    JSON.stringify({ plan: "credits", model: models.quick.id, params: { prompt: `lake ${n}` } })
  // The first job creates the rows.
  await ask(origin, { method: "POST", path: "/v1/generations", headers, body: bodyOf(-1) })
  const { user } = JSON.parse(await ask(origin, { method: "GET", path: "/v1/account", headers }))
  return async (tally, signal) => {
    const client = new Client({ connectionString: database })
    await client.connect()
    try {
      await client.query("BEGIN")
      await client.query("SELECT FROM ledger_account WHERE id = $1 FOR UPDATE", [user.id])
      await client.query("SELECT FROM scheduler_group WHERE id = $1 FOR UPDATE", [user.id])
      await repeat({
        origin,
        callers,
        tally,
        signal,
        requestOf: (n) => ({ method: "POST", path: "/v1/generations", headers, body: bodyOf(n) })
      })
    } finally {
      await client.end()
    }
  }
}
