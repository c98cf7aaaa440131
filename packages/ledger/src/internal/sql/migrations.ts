/** The tables of the ledger. Constraints enforce its invariants a second time. */
import * as Migrations from "@kinora/persistence/Migrations"
import { Effect } from "effect"
import { createForgetting } from "./forgettingMigration.ts"

/** Accounts and transactions. */
const createTransactions = Migrations.statements((sql) => [
  sql`
    CREATE TABLE ledger_account (
      id text COLLATE "C" PRIMARY KEY,
      CHECK (length(id) BETWEEN 1 AND 128)
    )
  `,

  // The unique and foreign keys over `reverses` limit a charge to one refund, of exactly its amount.
  sql`
    CREATE TABLE ledger_transaction (
      id uuid PRIMARY KEY,
      account text COLLATE "C" NOT NULL REFERENCES ledger_account (id),
      kind text NOT NULL,
      reference text COLLATE "C" NOT NULL,
      at timestamptz NOT NULL,
      amount int8 NOT NULL,
      reverses uuid UNIQUE,
      UNIQUE (account, reference, kind),
      UNIQUE (id, amount),
      FOREIGN KEY (reverses, amount) REFERENCES ledger_transaction (id, amount),
      CHECK (kind IN ('grant', 'charge', 'refund', 'expire')),
      CHECK (length(reference) BETWEEN 1 AND 128),
      CHECK (amount BETWEEN 0 AND 1000000000000),
      CHECK ((kind = 'refund') = (reverses IS NOT NULL))
    )
  `,
  sql`CREATE INDEX ledger_transaction_of_account ON ledger_transaction (account, id)`
])

/** Entries of transactions. */
const createEntries = Migrations.statements((sql) => [
  // Both sides are in one row, so every transaction is balanced.
  sql`
    CREATE TABLE ledger_entry (
      transaction_id uuid NOT NULL REFERENCES ledger_transaction (id),
      line int4 NOT NULL,
      from_book text NOT NULL,
      to_book text NOT NULL,
      amount int8 NOT NULL,
      PRIMARY KEY (transaction_id, line),
      CHECK (from_book <> to_book),
      CHECK (amount > 0)
    )
  `
])

/** Lots. */
const createLots = Migrations.statements((sql) => [
  // The fill factor, and no index over columns that charges change, allow updates within the page.
  sql`
    CREATE TABLE ledger_lot (
      id uuid PRIMARY KEY,
      account text COLLATE "C" NOT NULL REFERENCES ledger_account (id),
      kind text NOT NULL,
      granted int8 NOT NULL,
      remaining int8 NOT NULL,
      opened_at timestamptz NOT NULL,
      expires_at timestamptz NOT NULL,
      images_only boolean NOT NULL,
      watermark boolean NOT NULL,
      closed boolean NOT NULL,
      opened_by uuid NOT NULL REFERENCES ledger_transaction (id),
      CHECK (kind IN ('plan', 'addon', 'trial', 'refund')),
      CHECK (granted BETWEEN 1 AND 1000000000000),
      CHECK (remaining BETWEEN 0 AND granted),
      CHECK (expires_at > opened_at),
      CHECK (NOT closed OR remaining = 0)
    ) WITH (fillfactor = 70)
  `,
  sql`CREATE INDEX ledger_lot_of_account ON ledger_lot (account, expires_at, id) WHERE NOT closed`,
  sql`CREATE INDEX ledger_lot_by_expiry ON ledger_lot (expires_at, id) WHERE NOT closed`
])

/** Counters of quotas. */
const createQuotas = Migrations.statements((sql) => [
  sql`
    CREATE TABLE ledger_quota (
      account text COLLATE "C" NOT NULL REFERENCES ledger_account (id),
      day date NOT NULL,
      kind text COLLATE "C" NOT NULL,
      used int8 NOT NULL,
      PRIMARY KEY (account, day, kind),
      CHECK (length(kind) BETWEEN 1 AND 64),
      CHECK (used >= 0)
    ) WITH (fillfactor = 70)
  `
])

/** Triggers that reject changes of transactions and entries. */
const createTriggers = Migrations.statements((sql) => [
  sql`
    CREATE FUNCTION ledger_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      RAISE EXCEPTION 'The books are only added to: % on % is refused', TG_OP, TG_TABLE_NAME;
    END
    $$
  `,
  sql`
    CREATE TRIGGER ledger_transaction_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_transaction
    EXECUTE FUNCTION ledger_refuse_change()
  `,
  sql`
    CREATE TRIGGER ledger_entry_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_entry
    EXECUTE FUNCTION ledger_refuse_change()
  `
])

const createTables = Effect.all([createTransactions, createEntries, createLots, createQuotas, createTriggers], {
  discard: true
})

/**
 * Refunds of parts. The stored reference of one is that of the charge, a line feed and that of the part. A trigger limits the
 * refunds of a charge to its amount, in place of the keys over `reverses`, which allow one refund. It writes the row of the
 * account, which serializes refunds, also those of transactions with an earlier snapshot.
 *
 * The constraints are not validated, since that reads the whole table, and the earlier ones implied them.
 */
const refundParts = Migrations.statements((sql) => [
  sql`
    ALTER TABLE ledger_transaction
      DROP CONSTRAINT ledger_transaction_reverses_amount_fkey,
      DROP CONSTRAINT ledger_transaction_id_amount_key,
      DROP CONSTRAINT ledger_transaction_reverses_key,
      DROP CONSTRAINT ledger_transaction_reference_check,
      ADD CONSTRAINT ledger_transaction_reference_check CHECK (
        length(reference) BETWEEN 1 AND CASE kind WHEN 'refund' THEN 257 ELSE 128 END
      ) NOT VALID
  `,
  sql`
    -- Otherwise, planning the query for each refund takes ten times as long as running it.
    CREATE FUNCTION ledger_limit_refunds() RETURNS trigger LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
    DECLARE
      charge_reference text := split_part(NEW.reference, chr(10), 1);
      remaining int8;
    BEGIN
      -- A new version of the row, so that a transaction with an earlier snapshot, which does not see this refund, fails.
      -- One for all rows of a transaction, since finding the newest of many takes long.
      UPDATE ledger_account SET id = id WHERE id = NEW.account AND xmin <> pg_current_xact_id()::xid;
      SELECT charge.amount - NEW.amount - coalesce(sum(refund.amount), 0) INTO remaining
      FROM ledger_transaction AS charge
      LEFT JOIN ledger_transaction AS refund
        ON refund.account = NEW.account AND refund.kind = 'refund' AND refund.reverses = charge.id
          AND refund.reference >= charge_reference AND refund.reference < charge_reference || chr(11)
      WHERE charge.account = NEW.account AND charge.reference = charge_reference AND charge.kind = 'charge'
        AND charge.id = NEW.reverses
      GROUP BY charge.id;
      -- A refund without a part returns all that is left.
      IF remaining IS NULL OR remaining < 0 OR (remaining > 0 AND NEW.reference = charge_reference) THEN
        RAISE EXCEPTION 'A refund of % of the charge % is refused', NEW.amount, NEW.reverses
          USING ERRCODE = 'check_violation';
      END IF;
      RETURN NEW;
    END
    $$
  `,
  sql`
    CREATE TRIGGER ledger_transaction_limits_refunds BEFORE INSERT ON ledger_transaction
    FOR EACH ROW WHEN (NEW.kind = 'refund')
    EXECUTE FUNCTION ledger_limit_refunds()
  `
])

/**
 * Holds. The constraints are replaced by weaker ones, which the rows fulfil without a validation. A trigger writes the row of
 * the account with each hold and release, as for refunds, and checks that a release is of all of its hold.
 */
const createHolds = Migrations.statements((sql) => [
  sql`
    ALTER TABLE ledger_transaction
      DROP CONSTRAINT ledger_transaction_kind_check,
      DROP CONSTRAINT ledger_transaction_check,
      ADD CONSTRAINT ledger_transaction_kind_check CHECK (
        kind IN ('grant', 'charge', 'refund', 'expire', 'hold', 'release')
      ) NOT VALID,
      ADD CONSTRAINT ledger_transaction_check CHECK ((kind IN ('refund', 'release')) = (reverses IS NOT NULL)) NOT VALID
  `,
  sql`
    CREATE TABLE ledger_hold (
      account text COLLATE "C" NOT NULL REFERENCES ledger_account (id),
      reference text COLLATE "C" NOT NULL,
      credits int8 NOT NULL,
      expires_at timestamptz NOT NULL,
      state text NOT NULL,
      opened_by uuid NOT NULL REFERENCES ledger_transaction (id),
      PRIMARY KEY (account, reference),
      CHECK (length(reference) BETWEEN 1 AND 128),
      CHECK (credits BETWEEN 0 AND 1000000000000),
      CHECK (state IN ('open', 'captured', 'released', 'expired'))
    )
  `,
  sql`CREATE INDEX ledger_hold_of_account ON ledger_hold (account) INCLUDE (credits) WHERE state = 'open'`,
  sql`CREATE INDEX ledger_hold_by_expiry ON ledger_hold (expires_at, account, reference) WHERE state = 'open'`,
  sql`
    CREATE FUNCTION ledger_check_hold() RETURNS trigger LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
    BEGIN
      -- So that a transaction with an earlier snapshot, which does not see this row, fails with a serialization failure.
      UPDATE ledger_account SET id = id WHERE id = NEW.account AND xmin <> pg_current_xact_id()::xid;
      IF NEW.kind = 'release' AND NOT EXISTS (
        SELECT FROM ledger_transaction AS hold
        WHERE hold.id = NEW.reverses AND hold.kind = 'hold' AND hold.account = NEW.account
          AND hold.reference = NEW.reference AND hold.amount = NEW.amount
      ) THEN
        RAISE EXCEPTION 'A release of % of the hold % is refused', NEW.amount, NEW.reverses
          USING ERRCODE = 'check_violation';
      END IF;
      RETURN NEW;
    END
    $$
  `,
  sql`
    CREATE TRIGGER ledger_transaction_checks_hold BEFORE INSERT ON ledger_transaction
    FOR EACH ROW WHEN (NEW.kind IN ('hold', 'release'))
    EXECUTE FUNCTION ledger_check_hold()
  `
])

/**
 * Lots of any kind, with a purpose and labels, and metadata of transactions. The columns are nullable, so no row is rewritten,
 * and earlier builds insert rows without them. The constraint on kinds is replaced by a weaker one, which the rows fulfil
 * without a validation.
 */
const addLotTerms = Migrations.statements((sql) => [
  sql`
    ALTER TABLE ledger_lot
      ADD COLUMN purpose text,
      ADD COLUMN labels jsonb,
      DROP CONSTRAINT ledger_lot_kind_check,
      ADD CONSTRAINT ledger_lot_kind_check CHECK (length(kind) BETWEEN 1 AND 64) NOT VALID,
      ADD CONSTRAINT ledger_lot_purpose_check CHECK (
        purpose IS NULL OR (length(purpose) BETWEEN 1 AND 64 AND images_only)
      ) NOT VALID,
      ADD CONSTRAINT ledger_lot_labels_check CHECK (jsonb_typeof(labels) = 'array') NOT VALID
  `,
  sql`
    ALTER TABLE ledger_transaction
      ADD COLUMN metadata jsonb,
      ADD CONSTRAINT ledger_transaction_metadata_check CHECK (jsonb_typeof(metadata) = 'object') NOT VALID
  `
])

/**
 * Room in each page for the version of an account's row that each refund and each hold writes, so that it changes no index. It
 * applies to pages that are written from now on.
 */
const roomForUpdates = Migrations.statements((sql) => [sql`ALTER TABLE ledger_account SET (fillfactor = 70)`])

/** The migrations by name. */
export const migrations = {
  "0001_books": createTables,
  "0002_refund_parts": refundParts,
  "0003_holds": createHolds,
  "0004_forgetting": createForgetting,
  "0005_lot_terms": addLotTerms,
  "0006_room_for_updates": roomForUpdates
}
