/** API keys of the textbook peer and of the tuned one. */
import type { FastifyRequest } from "fastify"
import { createHash } from "node:crypto"
import type { Pool } from "pg"
import * as Callers from "../Callers.ts"

/** The owner of a key. */
export interface Identity {
  readonly key: string
  readonly account: string
  readonly status: string
}

/** Returns a function that authenticates requests. It caches keys for as long as a revocation may take, as Kinora does. */
export const make = (pool: Pool) => {
  const cached = new Map<string, { readonly identity: Identity; readonly until: number }>()
  return async ({ headers }: FastifyRequest): Promise<Identity | undefined> => {
    const [, key] = /^Bearer (\S+)$/.exec(headers.authorization ?? "") ?? []
    if (key === undefined) return undefined
    const hash = createHash("sha256").update(key).digest("hex")
    const known = cached.get(hash)
    if (known !== undefined && known.until > Callers.now()) return known.identity
    const { rows: [identity] } = await pool.query<Identity>({
      name: "authenticate",
      text: `SELECT k.id AS key, a.id AS account, a.status FROM api_key k JOIN account a ON a.id = k.account
             WHERE k.hash = $1 AND k.revoked_at IS NULL`,
      values: [hash]
    })
    if (identity !== undefined) cached.set(hash, { identity, until: Callers.now() + cachedMillis })
    return identity
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const cachedMillis = 5_000
