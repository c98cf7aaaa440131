/** The tables of sessions. */
import * as Migrations from "@kinora/persistence/Migrations"

/** Creates the tables of sessions, sign-in codes and members. */
export const sessionsTables = Migrations.statements((sql) => [
  sql`
    CREATE TABLE sessions_session (
      id uuid PRIMARY KEY,
      -- SHA-256 of the token. The token itself is not stored.
      hash text NOT NULL UNIQUE CHECK (hash ~ '^[0-9a-f]{64}$'),
      subject text NOT NULL,
      -- NULL for operators.
      account text,
      grants json NOT NULL,
      device text CHECK (length(device) <= 256),
      address text NOT NULL,
      created_at timestamptz NOT NULL,
      seen_at timestamptz NOT NULL,
      expires_at timestamptz NOT NULL,
      idle_until timestamptz NOT NULL,
      CHECK (seen_at >= created_at AND idle_until >= seen_at),
      CHECK ((account IS NULL) = (grants->>'scope' = 'operator'))
    )
  `,
  sql`CREATE INDEX sessions_session_subject ON sessions_session (subject)`,
  sql`CREATE INDEX sessions_session_account ON sessions_session (account) WHERE account IS NOT NULL`,
  sql`CREATE INDEX sessions_session_end ON sessions_session (least(expires_at, idle_until))`,
  sql`
    CREATE TABLE sessions_code (
      -- SHA-256 of the code. The code itself is not stored.
      hash text PRIMARY KEY CHECK (hash ~ '^[0-9a-f]{64}$'),
      subject text NOT NULL,
      account text,
      grants json NOT NULL,
      created_at timestamptz NOT NULL,
      expires_at timestamptz NOT NULL,
      CHECK ((account IS NULL) = (grants->>'scope' = 'operator'))
    )
  `,
  sql`CREATE INDEX sessions_code_subject ON sessions_code (subject)`,
  sql`CREATE INDEX sessions_code_account ON sessions_code (account) WHERE account IS NOT NULL`,
  sql`CREATE INDEX sessions_code_end ON sessions_code (expires_at)`,
  sql`
    CREATE TABLE sessions_member (
      id uuid PRIMARY KEY,
      account text NOT NULL,
      issuer text NOT NULL,
      subject text NOT NULL,
      email text NOT NULL,
      role text NOT NULL CHECK (role IN ('member', 'viewer')),
      created_at timestamptz NOT NULL,
      UNIQUE (account, issuer, subject)
    )
  `,
  sql`CREATE INDEX sessions_member_identity ON sessions_member (issuer, subject)`
])

/** Adds the account that a session of an operator views. */
export const sessionViews = Migrations.statements((sql) => [
  sql`
    ALTER TABLE sessions_session
      ADD COLUMN view_account text,
      ADD COLUMN view_until timestamptz,
      ADD CHECK ((view_account IS NULL) = (view_until IS NULL)),
      ADD CHECK (view_account IS NULL OR account IS NULL)
  `
])
