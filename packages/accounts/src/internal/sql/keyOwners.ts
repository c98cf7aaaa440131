/** The statement of authentication. */
import { Rows } from "@kinora/persistence"
import { Effect, Option, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { KeyOwner } from "../../AccountStore.ts"
import { KeyId } from "../../ApiKey.ts"
import { isUnlimited } from "../../KeyBudget.ts"
import { accountColumns, accountFields, planJoins, toAccount } from "./accountRow.ts"
import { budgetColumns, budgetFields, lineJoin, toBudget } from "./keyLines.ts"
import { termsFields, toTerms } from "./keyTerms.ts"

/** Finds the owners of keys that are not revoked, by the hashes of the keys. */
export const findOwners = (sql: SqlClient.SqlClient, hashes: ReadonlyArray<string>) =>
  sql`
    SELECT key.hash, key.id AS key, key.line, key.last_used_at, key.expires_at, key.restrictions,
      ${sql.literal(budgetColumns)}, ${accountColumns(sql)}
    FROM accounts_key key
    JOIN accounts_account account ON account.id = key.account ${planJoins(sql)}
    ${sql.literal(lineJoin)}
    WHERE key.hash = ANY(${Rows.array("text", hashes)}) AND key.revoked_at IS NULL
  `.pipe(decodeOwners, Effect.map((rows) => rows.map(toOwner)))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const OwnerRow = Schema.Struct({
  ...accountFields,
  hash: Schema.String,
  key: Schema.String,
  line: Schema.NullOr(Schema.String),
  last_used_at: Schema.NullOr(Rows.timestamptz),
  ...termsFields,
  ...budgetFields
})

const decodeOwners = Rows.decodeAll(OwnerRow)

const toOwner = (row: typeof OwnerRow.Type): KeyOwner => ({
  hash: row.hash,
  key: KeyId.fromUuid(row.key),
  terms: toTerms(row),
  budgetLine: isUnlimited(toBudget(row)) ? Option.none() : Option.some(KeyId.fromUuid(row.line ?? row.key)),
  lastUsedAt: Option.fromNullOr(row.last_used_at),
  account: toAccount(row)
})
