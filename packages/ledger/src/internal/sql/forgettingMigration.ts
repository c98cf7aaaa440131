/** The table, the triggers and the index that forgetting an account requires. */
import * as Migrations from "@kinora/persistence/Migrations"

/**
 * Accounts that are being forgotten, and the names under which their transactions stay. Triggers, in place of those that
 * reject every change, let a transaction move to this name with another reference and without metadata, and the books of holds
 * follow it. All else that transactions and entries have stays as it was booked.
 */
export const createForgetting = Migrations.statements((sql) => [
  sql`
    CREATE TABLE ledger_forgetting (
      account text COLLATE "C" PRIMARY KEY REFERENCES ledger_account (id),
      name text COLLATE "C" NOT NULL UNIQUE REFERENCES ledger_account (id),
      CHECK (account <> name)
    )
  `,
  sql`
    CREATE FUNCTION ledger_keep_transaction() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP = 'UPDATE'
        AND (NEW.id, NEW.kind, NEW.at, NEW.amount) = (OLD.id, OLD.kind, OLD.at, OLD.amount)
        AND NEW.reverses IS NOT DISTINCT FROM OLD.reverses
        -- A column of the next migration.
        AND NEW.metadata IS NULL
        AND EXISTS (
          SELECT FROM ledger_forgetting AS forgetting
          WHERE forgetting.account = OLD.account AND forgetting.name = NEW.account
        )
      THEN
        RETURN NEW;
      END IF;
      RAISE EXCEPTION 'The books are only added to: % on % is refused', TG_OP, TG_TABLE_NAME;
    END
    $$
  `,
  sql`
    CREATE FUNCTION ledger_keep_entry() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP = 'UPDATE'
        AND (NEW.transaction_id, NEW.line, NEW.amount) = (OLD.transaction_id, OLD.line, OLD.amount)
        AND EXISTS (
          SELECT FROM ledger_transaction AS booked
          JOIN ledger_forgetting AS forgetting ON forgetting.name = booked.account
          WHERE booked.id = NEW.transaction_id
            AND NEW.from_book IN (OLD.from_book, CASE WHEN OLD.from_book LIKE 'held:%' THEN 'held:' || booked.reference END)
            AND NEW.to_book IN (OLD.to_book, CASE WHEN OLD.to_book LIKE 'held:%' THEN 'held:' || booked.reference END)
        )
      THEN
        RETURN NEW;
      END IF;
      RAISE EXCEPTION 'The books are only added to: % on % is refused', TG_OP, TG_TABLE_NAME;
    END
    $$
  `,
  // Each text is one literal, since names are put into a schema in whole parts of a statement.
  ...["transaction", "entry"].flatMap((rows) => [
    `DROP TRIGGER ledger_${rows}_append_only ON ledger_${rows}`,
    `
    CREATE TRIGGER ledger_${rows}_append_only BEFORE UPDATE OR DELETE ON ledger_${rows}
    FOR EACH ROW EXECUTE FUNCTION ledger_keep_${rows}()
  `,
    `
    CREATE TRIGGER ledger_${rows}_no_truncate BEFORE TRUNCATE ON ledger_${rows}
    EXECUTE FUNCTION ledger_refuse_change()
  `
  ]).map((statement) => sql`${sql.literal(statement)}`)
])

/** Indexes that are built without blocking writes. */
export const indexes = {
  // Finds all lots of an account to forget, and is used by the foreign key when the row of the account is deleted.
  ledger_lot_by_account: "ON ledger_lot (account)"
}
