/** The tables of the ledger. Constraints enforce its invariants a second time. */
import * as Migrations from "@kinora/persistence/Migrations"
import { Effect } from "effect"

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

/** The migrations by name. */
export const migrations = { "0001_books": createTables }
