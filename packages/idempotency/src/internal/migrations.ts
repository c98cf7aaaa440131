/** The table of claims. */
import * as Migrations from "@kinora/persistence/Migrations"

/** Creates the table. */
export const createClaim = Migrations.statements((sql) => [
  sql`
    CREATE TABLE idempotency_claim (
      scope text COLLATE "C" NOT NULL CHECK (length(scope) <= 128),
      identity text COLLATE "C" NOT NULL CHECK (length(identity) <= 259),
      fingerprint text NOT NULL CHECK (fingerprint ~ '^[0-9a-f]{64}$'),
      reference text NOT NULL CHECK (length(reference) <= 128),
      claimed_at timestamptz NOT NULL,
      expires_at timestamptz NOT NULL CHECK (expires_at >= claimed_at),
      PRIMARY KEY (scope, identity)
    )
  `,
  sql`CREATE INDEX idempotency_claim_expires_at ON idempotency_claim (expires_at)`
])

/** A claim of `Responses` has a status as soon as its request has ended. It has no body if that was too large. */
export const addResponse = Migrations.statements((sql) => [
  sql`
    ALTER TABLE idempotency_claim
      ADD COLUMN response_status int4,
      ADD COLUMN response_headers text,
      ADD COLUMN response_body bytea
  `,
  // Does not scan the table, whose rows have no response yet.
  sql`
    ALTER TABLE idempotency_claim ADD CONSTRAINT idempotency_claim_response CHECK (
      CASE WHEN response_status IS NULL THEN response_headers IS NULL AND response_body IS NULL
        ELSE response_status BETWEEN 100 AND 599 AND response_headers IS NOT NULL END
    ) NOT VALID
  `
])
