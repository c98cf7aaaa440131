/** The tables of operators. */
import * as Migrations from "@kinora/persistence/Migrations"

/** Creates the tables of operators and audit entries. */
export const operatorsTables = Migrations.statements((sql) => [
  sql`
    CREATE TABLE operators_operator (
      id uuid PRIMARY KEY,
      name text NOT NULL,
      role text NOT NULL CHECK (role IN ('owner', 'operator', 'support', 'auditor')),
      -- SHA-256 of the tokens. The tokens themselves are not stored.
      hash text NOT NULL UNIQUE CHECK (hash ~ '^[0-9a-f]{64}$'),
      former_hash text UNIQUE CHECK (former_hash ~ '^[0-9a-f]{64}$'),
      former_until timestamptz,
      prefix text NOT NULL CHECK (length(prefix) = 12),
      created_at timestamptz NOT NULL,
      expires_at timestamptz,
      revoked_at timestamptz,
      last_used_at timestamptz,
      CHECK ((former_hash IS NULL) = (former_until IS NULL))
    )
  `,
  sql`
    CREATE TABLE operators_audit (
      id uuid PRIMARY KEY,
      at timestamptz NOT NULL,
      actor text NOT NULL,
      role text NOT NULL CHECK (role IN ('owner', 'operator', 'support', 'auditor')),
      address text NOT NULL,
      request_id text NOT NULL,
      action text NOT NULL,
      subject text,
      -- Not jsonb, which rejects U+0000.
      before json,
      after json
    )
  `,
  sql`CREATE INDEX operators_audit_at ON operators_audit (at)`,
  sql`CREATE INDEX operators_audit_actor ON operators_audit (actor, id)`,
  sql`CREATE INDEX operators_audit_action ON operators_audit (action, id)`,
  sql`CREATE INDEX operators_audit_subject ON operators_audit (subject, id)`,
  // Protects from mistakes. The owner of the database can still remove the triggers.
  sql`
    CREATE FUNCTION operators_audit_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP = 'DELETE' AND current_setting('kinora.audit_retention', true) = 'on' THEN
        RETURN OLD;
      END IF;
      RAISE EXCEPTION 'operators_audit is append-only; only its retention deletes entries'
        USING ERRCODE = 'restrict_violation';
    END
    $$
  `,
  sql`
    CREATE TRIGGER operators_audit_append_only BEFORE UPDATE OR DELETE ON operators_audit
    FOR EACH ROW EXECUTE FUNCTION operators_audit_refuse()
  `,
  sql`
    CREATE TRIGGER operators_audit_no_truncate BEFORE TRUNCATE ON operators_audit
    FOR EACH STATEMENT EXECUTE FUNCTION operators_audit_refuse()
  `
])

/** Allows entries of members of accounts, and of failed sign-ins, which have no role. */
export const auditRoles = Migrations.statements((sql) => [
  // `NOT VALID` does not read the table: the rows that exist have a role that both constraints allow.
  sql`
    ALTER TABLE operators_audit
    ALTER COLUMN role DROP NOT NULL,
    DROP CONSTRAINT operators_audit_role_check,
    ADD CONSTRAINT operators_audit_role_check
    CHECK (role IN ('owner', 'operator', 'support', 'auditor', 'member', 'viewer')) NOT VALID
  `
])
