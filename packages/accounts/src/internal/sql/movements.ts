/** Statements on movements of the wallet. */
import { Pipelining, Rows } from "@kinora/persistence"
import { DateTime, Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { AccountId } from "../../Account.ts"
import { type Movement, MovementKind, type MovementQuery } from "../../Wallet.ts"

/** Finds the movement of a kind and reference. */
export const findMovement = (
  sql: SqlClient.SqlClient,
  account: AccountId,
  kind: Movement["kind"],
  reference: string
) =>
  sql`
    SELECT ${columns(sql)}
    FROM accounts_movement
    WHERE account = ${AccountId.toUuid(account)} AND kind = ${kind} AND reference = ${reference}
  `.pipe(decodeMovements, Rows.first(toMovement))

/** Lists movements of an account, newest first. */
export const listMovements = (sql: SqlClient.SqlClient, { account, before, limit }: MovementQuery) =>
  sql`
    SELECT ${columns(sql)}
    FROM accounts_movement
    WHERE account = ${AccountId.toUuid(account)} AND ${
    before === undefined ? sql`true` : sql`
      (at, kind COLLATE "C", reference COLLATE "C") < (
        SELECT at, kind, reference
        FROM accounts_movement
        WHERE account = ${AccountId.toUuid(account)} AND kind = ${before.kind} AND reference = ${before.reference}
      )
    `
  }
    ORDER BY at DESC, kind COLLATE "C" DESC, reference COLLATE "C" DESC
    LIMIT ${limit}
  `.pipe(decodeMovements, Effect.map((rows) => rows.map(toMovement)))

/** Inserts a movement and sets the balance of its account. */
export const saveMovement = (
  sql: SqlClient.SqlClient,
  { account, at, balanceCents, cents, kind, reference }: Movement
) =>
  Pipelining.write(
    sql,
    sql`
      WITH movement AS (
        INSERT INTO accounts_movement (account, kind, reference, cents, balance_cents, at)
        VALUES (${AccountId.toUuid(account)}, ${kind}, ${reference}, ${cents}, ${balanceCents}, ${DateTime.toDate(at)})
        RETURNING account, balance_cents
      )
      UPDATE accounts_account account SET balance_cents = movement.balance_cents
      FROM movement
      WHERE account.id = movement.account
    `
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const columns = (sql: SqlClient.SqlClient) =>
  sql.literal("account, kind, reference, cents::float8 AS cents, balance_cents::float8 AS balance_cents, at")

const MovementRow = Schema.Struct({
  account: Schema.String,
  kind: MovementKind,
  reference: Schema.String,
  cents: Schema.Int,
  balance_cents: Schema.Int,
  at: Rows.timestamptz
})

const decodeMovements = Rows.decodeAll(MovementRow)

const toMovement = ({ account, balance_cents, ...row }: typeof MovementRow.Type): Movement => ({
  ...row,
  account: AccountId.fromUuid(account),
  balanceCents: balance_cents
})
