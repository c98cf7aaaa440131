/** The tables of accounts. */
import * as Migrations from "@kinora/persistence/Migrations"

/** Creates the tables of accounts, keys and plans. */
export const accountsTables = Migrations.statements((sql) => [
  sql`
    CREATE TABLE accounts_account (
      id uuid PRIMARY KEY,
      email text NOT NULL,
      -- The address in lower case, as the application folds it.
      email_key text NOT NULL UNIQUE,
      status text NOT NULL CHECK (status IN ('active', 'suspended')),
      created_at timestamptz NOT NULL
    )
  `,
  sql`
    CREATE TABLE accounts_key (
      id uuid PRIMARY KEY,
      account uuid NOT NULL REFERENCES accounts_account (id),
      name text NOT NULL,
      -- SHA-256 of the key. The key itself is not stored.
      hash text NOT NULL UNIQUE CHECK (hash ~ '^[0-9a-f]{64}$'),
      prefix text NOT NULL CHECK (length(prefix) = 12),
      created_at timestamptz NOT NULL,
      last_used_at timestamptz,
      revoked_at timestamptz
    )
  `,
  sql`CREATE INDEX accounts_key_account ON accounts_key (account, id)`,
  sql`
    CREATE TABLE accounts_plan (
      account uuid NOT NULL REFERENCES accounts_account (id),
      plan_group text NOT NULL,
      tier text NOT NULL,
      period_end timestamptz NOT NULL,
      auto_renew boolean NOT NULL,
      PRIMARY KEY (account, plan_group),
      CHECK (
        plan_group = 'studio' AND tier IN ('starter', 'pro', 'scale')
        OR plan_group = 'credits' AND tier IN ('starter', 'pro', 'business')
      )
    )
  `
])

/** Creates the table of movements, and adds the balance of accounts. */
export const walletTables = Migrations.statements((sql) => [
  sql`
    ALTER TABLE accounts_account
    ADD COLUMN balance_cents bigint NOT NULL DEFAULT 0 CHECK (balance_cents >= 0)
  `,
  sql`
    CREATE TABLE accounts_movement (
      account uuid NOT NULL REFERENCES accounts_account (id),
      kind text NOT NULL CHECK (kind IN ('deposit', 'renewal')),
      reference text NOT NULL,
      cents bigint NOT NULL CHECK (cents <> 0),
      balance_cents bigint NOT NULL CHECK (balance_cents >= 0),
      at timestamptz NOT NULL,
      PRIMARY KEY (account, kind, reference)
    )
  `,
  sql`CREATE INDEX accounts_plan_period_end ON accounts_plan (period_end)`
])

/** Adds the terms of keys. Keys that exist have none. */
export const keyTerms = Migrations.statements((sql) => [
  sql`
    ALTER TABLE accounts_key
    ADD COLUMN expires_at timestamptz,
    -- Scopes, models and networks, those that restrict the key.
    ADD COLUMN restrictions jsonb NOT NULL DEFAULT '{}'
  `
])

/** Adds the tier with which a plan renews, and kinds of movements. */
export const subscriptions = Migrations.statements((sql) => [
  sql`
    ALTER TABLE accounts_plan
    ADD COLUMN next_tier text CHECK (
      plan_group = 'studio' AND next_tier IN ('starter', 'pro', 'scale')
      OR plan_group = 'credits' AND next_tier IN ('starter', 'pro', 'business')
    )
  `,
  // `NOT VALID` does not read the table: the rows that exist have a kind that both constraints allow.
  sql`
    ALTER TABLE accounts_movement
    DROP CONSTRAINT accounts_movement_kind_check,
    ADD CONSTRAINT accounts_movement_kind_check
    CHECK (kind IN ('deposit', 'debit', 'subscription', 'upgrade', 'renewal')) NOT VALID
  `
])

/** Adds deletion. */
export const deletion = Migrations.statements((sql) => [
  sql`
    ALTER TABLE accounts_account
    ADD COLUMN deleted_at timestamptz,
    DROP CONSTRAINT accounts_account_status_check,
    ADD CONSTRAINT accounts_account_status_check
    CHECK (status IN ('active', 'suspended', 'deleted', 'erased')) NOT VALID
  `
])

/** Adds the budgets of lines of keys, and what they have spent. Keys that exist have no budget. */
export const keyBudgets = Migrations.statements((sql) => [
  // The first key of the line. `NULL`: the key is the first one.
  sql`ALTER TABLE accounts_key ADD COLUMN line uuid`,
  sql`
    CREATE TABLE accounts_key_line (
      -- The id of the first key, which may be deleted.
      id                uuid PRIMARY KEY,
      account           uuid NOT NULL REFERENCES accounts_account (id),
      credits_per_day   bigint CHECK (credits_per_day >= 0),
      credits_per_month bigint CHECK (credits_per_month >= 0),
      jobs_per_day      bigint CHECK (jobs_per_day >= 0),
      jobs_per_month    bigint CHECK (jobs_per_month >= 0)
    )
  `,
  sql`CREATE INDEX accounts_key_line_account ON accounts_key_line (account)`,
  // Leaves room in each page, so that an update of a counter does not touch the indexes.
  sql`
    CREATE TABLE accounts_key_spending (
      line    uuid   NOT NULL REFERENCES accounts_key_line (id) ON DELETE CASCADE,
      day     date   NOT NULL,
      credits bigint NOT NULL CHECK (credits >= 0),
      jobs    bigint NOT NULL CHECK (jobs >= 0),
      PRIMARY KEY (line, day)
    ) WITH (fillfactor = 70)
  `
])

/** Adds the author of a key. Keys that exist have none. */
export const keyAuthors = Migrations.statements((sql) => [
  sql`ALTER TABLE accounts_key ADD COLUMN created_by text`
])

/** Adds the limits that an operator has set. Members can change all limits that exist. */
export const operatorBudgets = Migrations.statements((sql) => [
  // No constraint compares them with the budget, because processes of an earlier release write the budget alone.
  sql`
    ALTER TABLE accounts_key_line
    ADD COLUMN credits_per_day_max   bigint CHECK (credits_per_day_max >= 0),
    ADD COLUMN credits_per_month_max bigint CHECK (credits_per_month_max >= 0),
    ADD COLUMN jobs_per_day_max      bigint CHECK (jobs_per_day_max >= 0),
    ADD COLUMN jobs_per_month_max    bigint CHECK (jobs_per_month_max >= 0)
  `
])

/**
 * Room in each page for the versions of rows that movements and records of uses write, so that they change no index. It applies
 * to pages that are written from now on.
 */
export const roomForUpdates = Migrations.statements((sql) => [
  sql`ALTER TABLE accounts_account SET (fillfactor = 70)`,
  sql`ALTER TABLE accounts_key SET (fillfactor = 70)`
])

/** Indexes that are built without blocking writes. */
export const indexes = {
  // Finds accounts to erase.
  accounts_account_deleted: "ON accounts_account (deleted_at) WHERE status = 'deleted'",
  // Finds old keys that were revoked or have expired.
  accounts_key_revoked: "ON accounts_key (revoked_at) WHERE revoked_at IS NOT NULL",
  accounts_key_expires: "ON accounts_key (expires_at) WHERE expires_at IS NOT NULL",
  // Finds the other keys of a line.
  accounts_key_line_keys: "ON accounts_key (line) WHERE line IS NOT NULL",
  // Finds old spending.
  accounts_key_spending_day: "ON accounts_key_spending (day)"
}
