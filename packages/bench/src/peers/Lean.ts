/**
 * The leanest peer: it authenticates the key, takes credits from one counter, and inserts the job under its idempotency
 * key, in one transaction of prepared statements. It has no rate limits, queue, lots, double entry, fingerprints or
 * webhooks, so it is a bound and no replacement.
 */
import { createHash, randomUUID } from "node:crypto"
import * as PostgresServer from "../PostgresServer.ts"
import { type Peer, query } from "./Peer.ts"

/** The lean peer. */
export const lean: Peer = {
  name: "lean",
  description: "Fastify and pg, without rate limits, queue, lots, double entry, fingerprints and webhooks",
  program: "leanServer.ts",
  prepare: (database) => PostgresServer.run(database, schema),
  makeKeys: async (database, count, credits) => {
    const keys = Array.from({ length: count }, () => `key_${randomUUID()}`)
    const hashes = keys.map((key) => createHash("sha256").update(`Bearer ${key}`).digest("hex"))
    await query(
      database,
      `INSERT INTO account (id, key_hash, credits)
       SELECT gen_random_uuid(), hash, $2 FROM unnest($1::text[]) AS hash`,
      [hashes, credits]
    )
    return keys
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const schema = `
  CREATE TABLE account (id uuid PRIMARY KEY, key_hash text NOT NULL UNIQUE, credits int8 NOT NULL CHECK (credits >= 0));
  CREATE TABLE idempotency (account uuid NOT NULL, key text NOT NULL, job uuid NOT NULL, PRIMARY KEY (account, key));
  CREATE TABLE job (
    id uuid PRIMARY KEY, account uuid NOT NULL REFERENCES account (id), model text NOT NULL,
    status text NOT NULL DEFAULT 'queued', params jsonb NOT NULL, cost int4 NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
  );
`
