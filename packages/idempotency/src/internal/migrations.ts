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
