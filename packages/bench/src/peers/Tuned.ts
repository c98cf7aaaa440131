/**
 * The tuned peer: the tables and checks of the textbook peer, in one function of the database per request. A creation is
 * one statement, one round trip and one commit. The queue is a table
 * whose workers poll with `SKIP LOCKED`, since commits with a notification wait for each other.
 */
import * as PostgresServer from "../PostgresServer.ts"
import type { Peer } from "./Peer.ts"
import { limits, makeKeys, schema } from "./Textbook.ts"

/** The tuned peer. */
export const tuned: Peer = {
  name: "tuned",
  description: "the same checks and rows in one function of the database per request, with a table as the queue",
  program: "tunedServer.ts",
  prepare: async (database) => {
    await PostgresServer.run(database, schema, limitTable, queueTable, hitFunction, createFunction, readFunction)
  },
  makeKeys
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** As unlogged as those of Kinora and of the textbook peer. */
const limitTable = `
  CREATE UNLOGGED TABLE hit (
    key uuid NOT NULL, minute timestamptz NOT NULL, count int4 NOT NULL, PRIMARY KEY (key, minute)
  )
`

const queueTable = `
  CREATE TABLE queue (
    id int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY, job uuid NOT NULL REFERENCES job (id),
    run_at timestamptz NOT NULL DEFAULT now(), attempts int4 NOT NULL DEFAULT 0, locked_until timestamptz
  );
  CREATE INDEX ON queue (run_at, id)
`

/** Counts a hit. Returns what is left in this minute, -1 once the limit is exceeded. */
const hitFunction = `
  CREATE FUNCTION hit(hit_key uuid, points int4) RETURNS int4 LANGUAGE sql AS $$
    INSERT INTO hit AS h (key, minute, count) VALUES (hit_key, date_trunc('minute', now()), 1)
    ON CONFLICT (key, minute) DO UPDATE SET count = h.count + 1
    RETURNING greatest(points - count, -1)
  $$
`

/** Returns the outcome, what the limit leaves, and the job. Everything is checked before anything but hits is written. */
const createFunction = `
  CREATE FUNCTION create_job(
    used_key uuid, owner uuid, claimed_key text, body_fingerprint text, new_model text, new_params jsonb, price int4,
    OUT outcome text, OUT remaining int4, OUT response json
  ) LANGUAGE plpgsql AS $$
  DECLARE
    claimed idempotency;
    created job;
    running int4;
    waiting int4;
    drawn record;
    due int8 := price;
    charge uuid := gen_random_uuid();
    line int4 := 0;
  BEGIN
    remaining := hit(used_key, ${limits.requestsPerMinute});
    IF remaining < 0 THEN outcome := 'rate_limited'; RETURN; END IF;
    PERFORM FROM account WHERE id = owner FOR UPDATE;
    SELECT * INTO claimed FROM idempotency WHERE account = owner AND key = claimed_key;
    IF FOUND THEN
      IF claimed.fingerprint <> body_fingerprint THEN outcome := 'idempotency_key_reused'; RETURN; END IF;
      SELECT to_json(job) INTO response FROM job WHERE id = claimed.job;
      outcome := 'replayed';
      RETURN;
    END IF;
    remaining := hit(owner, ${limits.createsPerMinute});
    IF remaining < 0 THEN outcome := 'rate_limited'; RETURN; END IF;
    SELECT count(*) FILTER (WHERE status IN ('queued', 'processing')), count(*) FILTER (WHERE status = 'pending')
      INTO running, waiting
      FROM job WHERE account = owner AND status IN ('pending', 'queued', 'processing');
    IF running >= ${limits.running} AND waiting >= ${limits.waiting} THEN outcome := 'queue_full'; RETURN; END IF;
    IF price > (SELECT coalesce(sum(lot.remaining), 0) FROM lot WHERE account = owner AND expires_at > now()) THEN
      outcome := 'insufficient_credits';
      RETURN;
    END IF;
    INSERT INTO job (id, account, model, status, params, cost)
      VALUES (
        gen_random_uuid(), owner, new_model, CASE WHEN running < ${limits.running} THEN 'queued' ELSE 'pending' END,
        new_params, price
      )
      RETURNING * INTO created;
    INSERT INTO idempotency (account, key, fingerprint, job, expires_at)
      VALUES (owner, claimed_key, body_fingerprint, created.id, now() + interval '24 hours');
    INSERT INTO ledger_transaction (id, account, kind, reference) VALUES (charge, owner, 'charge', created.id);
    FOR drawn IN
      SELECT lot.id, lot.remaining AS amount FROM lot
      WHERE account = owner AND expires_at > now() AND lot.remaining > 0 ORDER BY expires_at
    LOOP
      drawn.amount := least(drawn.amount, due);
      EXIT WHEN drawn.amount = 0;
      UPDATE lot SET remaining = lot.remaining - drawn.amount WHERE id = drawn.id;
      INSERT INTO ledger_entry (transaction, line, book, amount)
        VALUES (charge, line, 'lot:' || drawn.id, -drawn.amount), (charge, line + 1, 'consumed', drawn.amount);
      due := due - drawn.amount;
      line := line + 2;
    END LOOP;
    INSERT INTO webhook_event (endpoint, type, data)
      SELECT id, 'generation.created', to_jsonb(created) FROM webhook_endpoint WHERE account = owner;
    INSERT INTO queue (job) VALUES (created.id);
    outcome := 'created';
    response := to_json(created);
  END
  $$
`

const readFunction = `
  CREATE FUNCTION read_job(used_key uuid, owner uuid, job_id uuid, OUT remaining int4, OUT response json)
  LANGUAGE plpgsql AS $$
  BEGIN
    remaining := hit(used_key, ${limits.requestsPerMinute});
    IF remaining >= 0 THEN SELECT to_json(job) INTO response FROM job WHERE id = job_id AND account = owner; END IF;
  END
  $$
`
