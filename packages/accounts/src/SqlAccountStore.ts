/**
 * Accounts in a SQL database, in the tables `accounts_account`, `accounts_key`,
 * `accounts_plan` and `accounts_movement`. Of a key there is its hash and its first 12 characters.
 */
import { type Migrations, StorageError } from "@kinora/persistence"
import { DateTime, Effect, Layer, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { type Account, AccountId, AccountStatus, emailKey } from "./Account.ts"
import { AccountStore, type KeyOwner } from "./AccountStore.ts"
import { type ApiKey, KeyId } from "./ApiKey.ts"
import { accountsTables, walletTables } from "./internal/migrations.ts"
import { CreditsTier, type Plan, PlanGroup, StudioTier } from "./Plan.ts"
import type { Movement } from "./Wallet.ts"

/** The tables of this package. */
export const migrations: Migrations.Migrations = {
  namespace: "accounts",
  migrations: { "0001_accounts": accountsTables, "0002_wallet": walletTables }
}

/** The store over the surrounding database, whose migrations have been run. */
export const layer: Layer.Layer<AccountStore, never, SqlClient.SqlClient> = Layer.effect(
  AccountStore,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    const accountColumns = sql.literal(`
      account.id, account.email, account.status, account.created_at, account.balance_cents::float8 AS balance_cents,
      studio.tier AS studio_tier, studio.period_end AS studio_period_end, studio.auto_renew AS studio_auto_renew,
      credits.tier AS credits_tier, credits.period_end AS credits_period_end, credits.auto_renew AS credits_auto_renew
    `)
    const planJoins = sql.literal(`
      LEFT JOIN accounts_plan studio ON studio.account = account.id AND studio.plan_group = 'studio'
      LEFT JOIN accounts_plan credits ON credits.account = account.id AND credits.plan_group = 'credits'
    `)
    const keyColumns = sql.literal("id, account, name, prefix, created_at, last_used_at, revoked_at")

    const selectById = SqlSchema.findOneOption({
      Request: Schema.String,
      Result: AccountRow,
      execute: (id) =>
        sql`
          SELECT ${accountColumns}
          FROM accounts_account account ${planJoins}
          WHERE account.id = ${id}
        `
    })

    const selectByEmail = SqlSchema.findOneOption({
      Request: Schema.String,
      Result: AccountRow,
      execute: (emailKey) =>
        sql`
          SELECT ${accountColumns}
          FROM accounts_account account ${planJoins}
          WHERE account.email_key = ${emailKey}
        `
    })

    // An ended plan is due whatever it says; one that goes on, a little before its end.
    const selectDue = SqlSchema.findAll({
      Request: Schema.Struct({ endedBy: Schema.Date, renewableBy: Schema.Date, limit: Schema.Int }),
      Result: Schema.Struct({ account: Schema.String, plan_group: PlanGroup }),
      execute: ({ endedBy, limit, renewableBy }) =>
        sql`
          SELECT account, plan_group
          FROM accounts_plan
          WHERE period_end <= ${renewableBy} AND (auto_renew OR period_end <= ${endedBy})
          ORDER BY period_end, account, plan_group
          LIMIT ${limit}
        `
    })

    const selectMovement = SqlSchema.findOneOption({
      Request: Schema.Struct({ account: Schema.String, kind: Schema.String, reference: Schema.String }),
      Result: MovementRow,
      execute: ({ account, kind, reference }) =>
        sql`
          SELECT account, kind, reference, cents::float8 AS cents, balance_cents::float8 AS balance_cents, at
          FROM accounts_movement
          WHERE account = ${account} AND kind = ${kind} AND reference = ${reference}
        `
    })

    const selectCount = SqlSchema.findOne({
      Request: Schema.String,
      Result: Schema.Struct({ count: Schema.Int }),
      execute: (account) =>
        sql`SELECT count(*)::int4 AS count FROM accounts_key WHERE account = ${account} AND revoked_at IS NULL`
    })

    const selectKeys = SqlSchema.findAll({
      Request: Schema.Struct({ account: Schema.String, limit: Schema.Int }),
      Result: KeyRow,
      execute: ({ account, limit }) =>
        sql`
          SELECT ${keyColumns}
          FROM accounts_key
          WHERE account = ${account}
          ORDER BY revoked_at IS NOT NULL, id DESC
          LIMIT ${limit}
        `
    })

    const updateRevoked = SqlSchema.findOneOption({
      Request: Schema.Struct({ account: Schema.String, key: Schema.String, at: Schema.Date }),
      Result: KeyRow,
      execute: ({ account, at, key }) =>
        sql`
          UPDATE accounts_key SET revoked_at = coalesce(revoked_at, ${at})
          WHERE id = ${key} AND account = ${account}
          RETURNING ${keyColumns}
        `
    })

    const selectOwners = SqlSchema.findAll({
      Request: Schema.Array(Schema.String),
      Result: OwnerRow,
      execute: (hashes) =>
        sql`
          SELECT key.hash, key.id AS key, key.last_used_at, ${accountColumns}
          FROM accounts_key key
          JOIN accounts_account account ON account.id = key.account ${planJoins}
          WHERE key.hash = ANY(${hashes}::text[]) AND key.revoked_at IS NULL
        `
    })

    const findAccount = (id: AccountId) =>
      selectById(AccountId.toUuid(id)).pipe(
        Effect.map(Option.map(toAccount)),
        StorageError.mapSql("AccountStore.findAccount")
      )

    return AccountStore.of({
      insertAccount: ({ createdAt, email, id, status }) =>
        sql`
          INSERT INTO accounts_account (id, email, email_key, status, created_at)
          VALUES (${AccountId.toUuid(id)}, ${email}, ${emailKey(email)}, ${status}, ${DateTime.toDate(createdAt)})
          ON CONFLICT (email_key) DO NOTHING
          RETURNING id
        `.pipe(Effect.map((rows) => rows.length === 1), StorageError.mapSql("AccountStore.insertAccount")),

      findAccount,

      findAccountByEmail: (emailKey) =>
        selectByEmail(emailKey).pipe(
          Effect.map(Option.map(toAccount)),
          StorageError.mapSql("AccountStore.findAccountByEmail")
        ),

      // Locks first and reads in the next statement, which sees what the lock waited for.
      lockAccount: (id) =>
        sql`SELECT id FROM accounts_account WHERE id = ${AccountId.toUuid(id)} FOR UPDATE`.pipe(
          StorageError.mapSql("AccountStore.lockAccount"),
          Effect.andThen(findAccount(id))
        ),

      saveStatus: (id, status) =>
        sql`UPDATE accounts_account SET status = ${status} WHERE id = ${AccountId.toUuid(id)}`.pipe(
          Effect.asVoid,
          StorageError.mapSql("AccountStore.saveStatus")
        ),

      savePlan: (id, group, plan) => {
        const account = AccountId.toUuid(id)
        const statement = Option.match(plan, {
          onNone: () => sql`DELETE FROM accounts_plan WHERE account = ${account} AND plan_group = ${group}`,
          onSome: ({ autoRenew, periodEnd, tier }) =>
            sql`
              INSERT INTO accounts_plan (account, plan_group, tier, period_end, auto_renew)
              VALUES (${account}, ${group}, ${tier}, ${DateTime.toDate(periodEnd)}, ${autoRenew})
              ON CONFLICT (account, plan_group) DO UPDATE
              SET tier = excluded.tier, period_end = excluded.period_end, auto_renew = excluded.auto_renew
            `
        })
        return statement.pipe(Effect.asVoid, StorageError.mapSql("AccountStore.savePlan"))
      },

      findDuePlans: ({ endedBy, limit, renewableBy }) =>
        selectDue({ endedBy: DateTime.toDate(endedBy), renewableBy: DateTime.toDate(renewableBy), limit }).pipe(
          Effect.map((rows) =>
            rows.map(({ account, plan_group }) => ({ account: AccountId.fromUuid(account), group: plan_group }))
          ),
          StorageError.mapSql("AccountStore.findDuePlans")
        ),

      findMovement: (account, kind, reference) =>
        selectMovement({ account: AccountId.toUuid(account), kind, reference }).pipe(
          Effect.map(Option.map(toMovement)),
          StorageError.mapSql("AccountStore.findMovement")
        ),

      saveMovement: ({ account, at, balanceCents, cents, kind, reference }) =>
        sql`
          WITH movement AS (
            INSERT INTO accounts_movement (account, kind, reference, cents, balance_cents, at)
            VALUES (
              ${AccountId.toUuid(account)}, ${kind}, ${reference}, ${cents}, ${balanceCents}, ${DateTime.toDate(at)}
            )
            RETURNING account, balance_cents
          )
          UPDATE accounts_account account SET balance_cents = movement.balance_cents
          FROM movement
          WHERE account.id = movement.account
        `.pipe(Effect.asVoid, StorageError.mapSql("AccountStore.saveMovement")),

      countKeys: (account) =>
        selectCount(AccountId.toUuid(account)).pipe(
          Effect.map(({ count }) => count),
          // An aggregate without groups always has its one row.
          Effect.catchTag("NoSuchElementError", Effect.die),
          StorageError.mapSql("AccountStore.countKeys")
        ),

      insertKey: (key, hash) =>
        sql`
          INSERT INTO accounts_key (id, account, name, hash, prefix, created_at)
          VALUES (
            ${KeyId.toUuid(key.id)}, ${AccountId.toUuid(key.account)}, ${key.name}, ${hash}, ${key.prefix},
            ${DateTime.toDate(key.createdAt)}
          )
        `.pipe(Effect.asVoid, StorageError.mapSql("AccountStore.insertKey")),

      listKeys: (account, limit) =>
        selectKeys({ account: AccountId.toUuid(account), limit }).pipe(
          Effect.map((rows) => rows.map(toKey)),
          StorageError.mapSql("AccountStore.listKeys")
        ),

      revokeKey: (account, key, at) =>
        updateRevoked({ account: AccountId.toUuid(account), key: KeyId.toUuid(key), at: DateTime.toDate(at) }).pipe(
          Effect.map(Option.map(toKey)),
          StorageError.mapSql("AccountStore.revokeKey")
        ),

      findOwners: (hashes) =>
        selectOwners(hashes).pipe(
          Effect.map((rows) => rows.map(toOwner)),
          StorageError.mapSql("AccountStore.findOwners")
        ),

      // SKIP LOCKED: a host that notes the same keys must not be waited for.
      noteUses: (uses) =>
        sql`
          WITH due AS (
            SELECT key.id, used.at
            FROM accounts_key key
            JOIN unnest(
              ${uses.map(({ key }) => KeyId.toUuid(key))}::uuid[],
              ${uses.map(({ at }) => DateTime.toDate(at))}::timestamptz[]
            ) AS used (id, at) ON used.id = key.id
            WHERE key.last_used_at IS NULL OR key.last_used_at <= used.at - interval '1 minute'
            FOR UPDATE OF key SKIP LOCKED
          )
          UPDATE accounts_key key SET last_used_at = due.at
          FROM due
          WHERE key.id = due.id
        `.pipe(Effect.asVoid, StorageError.mapSql("AccountStore.noteUses"))
    })
  })
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const accountFields = {
  id: Schema.String,
  email: Schema.String,
  status: AccountStatus,
  created_at: Schema.DateTimeUtcFromDate,
  balance_cents: Schema.Int,
  studio_tier: Schema.NullOr(StudioTier),
  studio_period_end: Schema.NullOr(Schema.DateTimeUtcFromDate),
  studio_auto_renew: Schema.NullOr(Schema.Boolean),
  credits_tier: Schema.NullOr(CreditsTier),
  credits_period_end: Schema.NullOr(Schema.DateTimeUtcFromDate),
  credits_auto_renew: Schema.NullOr(Schema.Boolean)
}

const AccountRow = Schema.Struct(accountFields)

const OwnerRow = Schema.Struct({
  ...accountFields,
  hash: Schema.String,
  key: Schema.String,
  last_used_at: Schema.NullOr(Schema.DateTimeUtcFromDate)
})

const KeyRow = Schema.Struct({
  id: Schema.String,
  account: Schema.String,
  name: Schema.String,
  prefix: Schema.String,
  created_at: Schema.DateTimeUtcFromDate,
  last_used_at: Schema.NullOr(Schema.DateTimeUtcFromDate),
  revoked_at: Schema.NullOr(Schema.DateTimeUtcFromDate)
})

const toAccount = (row: typeof AccountRow.Type): Account => ({
  id: AccountId.fromUuid(row.id),
  email: row.email,
  status: row.status,
  plans: {
    studio: toPlan(row.studio_tier, row.studio_period_end, row.studio_auto_renew),
    credits: toPlan(row.credits_tier, row.credits_period_end, row.credits_auto_renew)
  },
  balanceCents: row.balance_cents,
  createdAt: row.created_at
})

const MovementRow = Schema.Struct({
  account: Schema.String,
  kind: Schema.Literals(["deposit", "renewal"]),
  reference: Schema.String,
  cents: Schema.Int,
  balance_cents: Schema.Int,
  at: Schema.DateTimeUtcFromDate
})

const toMovement = (row: typeof MovementRow.Type): Movement => ({
  account: AccountId.fromUuid(row.account),
  kind: row.kind,
  reference: row.reference,
  cents: row.cents,
  balanceCents: row.balance_cents,
  at: row.at
})

/** The columns of an outer join: all null when there is no plan. */
const toPlan = <Tier extends string>(
  tier: Tier | null,
  periodEnd: DateTime.Utc | null,
  autoRenew: boolean | null
): Option.Option<Plan<Tier>> =>
  tier === null || periodEnd === null || autoRenew === null
    ? Option.none()
    : Option.some({ tier, periodEnd, autoRenew })

const toKey = (row: typeof KeyRow.Type): ApiKey => ({
  id: KeyId.fromUuid(row.id),
  account: AccountId.fromUuid(row.account),
  name: row.name,
  prefix: row.prefix,
  createdAt: row.created_at,
  lastUsedAt: Option.fromNullOr(row.last_used_at),
  revokedAt: Option.fromNullOr(row.revoked_at)
})

const toOwner = (row: typeof OwnerRow.Type): KeyOwner => ({
  hash: row.hash,
  key: KeyId.fromUuid(row.key),
  lastUsedAt: Option.fromNullOr(row.last_used_at),
  account: toAccount(row)
})
