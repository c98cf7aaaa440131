/** Statements on movements of the wallet. */
import { Rows } from "@kinora/persistence"
import { Array as Arr, DateTime, Effect, Option, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { AccountId } from "../../Account.ts"
import type { Movement } from "../../Wallet.ts"

/** Finds the movement of a kind and reference. */
export const findMovement = (
  sql: SqlClient.SqlClient,
  account: AccountId,
  kind: Movement["kind"],
  reference: string
) =>
  sql`
    SELECT account, kind, reference, cents::float8 AS cents, balance_cents::float8 AS balance_cents, at
    FROM accounts_movement
    WHERE account = ${AccountId.toUuid(account)} AND kind = ${kind} AND reference = ${reference}
  `.pipe(decodeMovements, Effect.map((rows) => Option.map(Arr.head(rows), toMovement)))

/** Inserts a movement and sets the balance of its account. */
export const saveMovement = (
  sql: SqlClient.SqlClient,
  { account, at, balanceCents, cents, kind, reference }: Movement
) =>
  sql`
    WITH movement AS (
      INSERT INTO accounts_movement (account, kind, reference, cents, balance_cents, at)
      VALUES (${AccountId.toUuid(account)}, ${kind}, ${reference}, ${cents}, ${balanceCents}, ${DateTime.toDate(at)})
      RETURNING account, balance_cents
    )
    UPDATE accounts_account account SET balance_cents = movement.balance_cents
    FROM movement
    WHERE account.id = movement.account
  `.pipe(Effect.asVoid)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const MovementRow = Schema.Struct({
  account: Schema.String,
  kind: Schema.Literals(["deposit", "renewal"]),
  reference: Schema.String,
  cents: Schema.Int,
  balance_cents: Schema.Int,
  at: Schema.DateTimeUtcFromDate
})

const decodeMovements = Rows.decodeAll(MovementRow)

const toMovement = ({ account, balance_cents, ...row }: typeof MovementRow.Type): Movement => ({
  ...row,
  account: AccountId.fromUuid(account),
  balanceCents: balance_cents
})
