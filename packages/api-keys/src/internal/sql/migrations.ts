/** The tables of keys and owners. */
import * as Migrations from "@kinora/persistence/Migrations"

/** Creates the tables. */
export const createKey = Migrations.statements((sql) => [
  sql`
    CREATE TABLE api_keys_key (
      id uuid PRIMARY KEY,
      owner text COLLATE "C" NOT NULL CHECK (length(owner) BETWEEN 1 AND 255),
      -- The first key of the line. NULL: the key is the first one.
      line uuid,
      name text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
      -- SHA-256 of the key. The key itself is not stored.
      hash text NOT NULL UNIQUE CHECK (hash ~ '^[0-9a-f]{64}$'),
      prefix text NOT NULL CHECK (length(prefix) <= 40),
      -- Scopes and networks, those that restrict the key.
      restrictions jsonb NOT NULL,
      metadata jsonb NOT NULL CHECK (jsonb_typeof(metadata) = 'object'),
      created_at timestamptz NOT NULL,
      created_by text CHECK (length(created_by) BETWEEN 1 AND 1024),
      expires_at timestamptz,
      last_used_at timestamptz,
      revoked_at timestamptz
    )
  `,
  // The owners whose keys have been changed, for their locks.
  sql`CREATE TABLE api_keys_owner (owner text COLLATE "C" PRIMARY KEY)`,
  sql`CREATE INDEX api_keys_key_owner ON api_keys_key (owner, id)`,
  // Find old keys that were revoked or have expired.
  sql`CREATE INDEX api_keys_key_revoked ON api_keys_key (revoked_at) WHERE revoked_at IS NOT NULL`,
  sql`CREATE INDEX api_keys_key_expires ON api_keys_key (expires_at) WHERE expires_at IS NOT NULL`
])

/**
 * Room in each page for the versions of rows that records of uses and locks of owners write, so that they change no index. It
 * applies to pages that are written from now on.
 */
export const roomForUpdates = Migrations.statements((sql) => [
  sql`ALTER TABLE api_keys_key SET (fillfactor = 70)`,
  sql`ALTER TABLE api_keys_owner SET (fillfactor = 70)`
])
