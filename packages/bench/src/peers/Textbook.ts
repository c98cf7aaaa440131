/**
 * The peer that a team would write with common packages: Fastify, `pg`, rate-limiter-flexible and pg-boss. It makes the
 * checks that Kinora makes, with the same durability:
 *
 * - the API key by its hash, cached for 5 seconds, and the account's status
 * - 300 requests per minute and key, 120 creations per minute and account, exact across processes, in unlogged tables
 * - the idempotency key with a fingerprint of the body, in the phases "claimed" and "finished"
 * - at most 8 jobs that can run and 20 that wait
 * - credits from the lot that expires first, with a transaction and two entries in double entry
 * - the job, its entry in the queue, and a webhook event for each endpoint of the account, in the transaction that charges
 */
import { createHash, randomUUID } from "node:crypto"
import * as PostgresServer from "../PostgresServer.ts"
import { type Peer, query } from "./Peer.ts"

/** The textbook peer. */
export const textbook: Peer = {
  name: "textbook",
  description: "Fastify, pg, rate-limiter-flexible and pg-boss, with the checks and the durability of Kinora",
  program: "textbookServer.ts",
  prepare: (database) => PostgresServer.run(database, schema),
  makeKeys
}

/** The limits of an account with the largest plan. */
export const limits = { requestsPerMinute: 300, createsPerMinute: 120, running: 8, waiting: 20 } as const

/** The tables, without those of rate-limiter-flexible and pg-boss. */
export const schema = `
  CREATE TABLE account (id uuid PRIMARY KEY, status text NOT NULL DEFAULT 'active');
  CREATE TABLE api_key (
    id uuid PRIMARY KEY, hash text NOT NULL UNIQUE, account uuid NOT NULL REFERENCES account (id), revoked_at timestamptz
  );
  CREATE TABLE lot (
    id uuid PRIMARY KEY, account uuid NOT NULL REFERENCES account (id), remaining int8 NOT NULL CHECK (remaining >= 0),
    expires_at timestamptz NOT NULL
  );
  CREATE INDEX ON lot (account, expires_at);
  CREATE TABLE ledger_transaction (
    id uuid PRIMARY KEY, account uuid NOT NULL REFERENCES account (id), kind text NOT NULL, reference text NOT NULL,
    at timestamptz NOT NULL DEFAULT now(), UNIQUE (account, kind, reference)
  );
  CREATE TABLE ledger_entry (
    transaction uuid NOT NULL REFERENCES ledger_transaction (id), line int4 NOT NULL, book text NOT NULL,
    amount int8 NOT NULL, PRIMARY KEY (transaction, line)
  );
  CREATE TABLE idempotency (
    account uuid NOT NULL, key text NOT NULL, fingerprint text NOT NULL, job uuid, expires_at timestamptz NOT NULL,
    PRIMARY KEY (account, key)
  );
  CREATE TABLE job (
    id uuid PRIMARY KEY, account uuid NOT NULL REFERENCES account (id), model text NOT NULL, status text NOT NULL,
    params jsonb NOT NULL, cost int4 NOT NULL, created_at timestamptz NOT NULL DEFAULT now()
  );
  CREATE INDEX ON job (account, status);
  CREATE TABLE webhook_endpoint (id uuid PRIMARY KEY, account uuid NOT NULL REFERENCES account (id), url text NOT NULL);
  CREATE INDEX ON webhook_endpoint (account);
  CREATE TABLE webhook_event (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(), endpoint uuid NOT NULL REFERENCES webhook_endpoint (id),
    type text NOT NULL, data jsonb NOT NULL, at timestamptz NOT NULL DEFAULT now()
  );
`

/** Creates accounts with a key and one lot each. */
export async function makeKeys(database: string, count: number, credits: number): Promise<ReadonlyArray<string>> {
  const keys = Array.from({ length: count }, () => `key_${randomUUID()}`)
  await query(
    database,
    `WITH created AS (SELECT gen_random_uuid() AS id, hash FROM unnest($1::text[]) AS hash),
       accounts AS (INSERT INTO account (id) SELECT id FROM created),
       keys AS (INSERT INTO api_key (id, hash, account) SELECT gen_random_uuid(), hash, id FROM created)
     INSERT INTO lot (id, account, remaining, expires_at)
     SELECT gen_random_uuid(), id, $2, now() + interval '30 days' FROM created`,
    [keys.map((key) => createHash("sha256").update(key).digest("hex")), credits]
  )
  return keys
}
