/** Statements on payments: the methods of the store. */
import { DatabaseTime, Deletion, Pipelining, Rows } from "@kinora/persistence"
import { DateTime, Duration, Effect, Option, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { type Payment, PaymentId, type PaymentQuery, PaymentStatus } from "../../Payment.ts"
import { type DueQuery, pauseMinutes, type Settlement } from "../../PaymentStore.ts"

/** Locks the set of payments of an account until the transaction ends. */
export const lockAccount = (sql: SqlClient.SqlClient, account: string) =>
  sql`SELECT true FROM pg_advisory_xact_lock(hashtextextended('payments_payment ' || ${account}::text, 0))`.pipe(
    Effect.asVoid
  )

/** Counts the open payments of an account. */
export const countOpen = (sql: SqlClient.SqlClient, account: string) =>
  sql`
    SELECT count(*)::int4 AS count
    FROM payments_payment
    WHERE account = ${account} AND status = 'open'
  `.pipe(Rows.decodeCount)

/** Inserts a payment. */
export const insert = (sql: SqlClient.SqlClient, payment: Payment) =>
  Effect.flatMap(DatabaseTime.now, (now) =>
    Pipelining.write(
      sql,
      sql`
        INSERT INTO payments_payment (
          id, account, cents, provider, provider_reference, status, is_credited, created_at, expires_at, settled_at, due_at
        )
        VALUES (
          ${PaymentId.toUuid(payment.id)}, ${payment.account}, ${payment.cents}, ${payment.provider},
          ${Option.getOrNull(payment.providerReference)}, ${payment.status}, ${payment.isCredited},
          ${DateTime.toDate(payment.createdAt)}, ${dateOf(payment.expiresAt)}, ${dateOf(payment.settledAt)},
          ${DatabaseTime.after(now, Duration.minutes(pauseMinutes.first))}
        )
      `
    ))

/** Finds a payment by id. */
export const find = (sql: SqlClient.SqlClient, id: PaymentId) =>
  sql`SELECT ${columns(sql)} FROM payments_payment WHERE id = ${PaymentId.toUuid(id)}`.pipe(
    decodePayments,
    Rows.first(toPayment)
  )

/** Locks a payment until the transaction ends, and returns it. */
export const lock = (sql: SqlClient.SqlClient, id: PaymentId) =>
  Rows.lockById(sql, "payments_payment", PaymentId.toUuid(id), find(sql, id))

/** Saves the checkout of a payment. */
export const saveCheckout = (
  sql: SqlClient.SqlClient,
  id: PaymentId,
  { expiresAt, reference }: { readonly reference: string; readonly expiresAt: DateTime.Utc }
) =>
  sql`
    UPDATE payments_payment
    SET provider_reference = ${reference}, expires_at = ${DateTime.toDate(expiresAt)}
    WHERE id = ${PaymentId.toUuid(id)}
  `.pipe(Effect.asVoid)

/** Ends a payment. */
export const settle = (
  sql: SqlClient.SqlClient,
  id: PaymentId,
  { isCredited, providerReference, settledAt, status }: Settlement
) =>
  Pipelining.write(
    sql,
    sql`
      UPDATE payments_payment
      SET status = ${status}, is_credited = ${isCredited}, settled_at = ${DateTime.toDate(settledAt)},
        provider_reference = ${Option.getOrNull(providerReference)}
      WHERE id = ${PaymentId.toUuid(id)}
    `
  )

/** Lists payments of an account, newest first. */
export const list = (sql: SqlClient.SqlClient, { account, after, limit }: PaymentQuery) =>
  sql`
    SELECT ${columns(sql)}
    FROM payments_payment
    WHERE account = ${account} AND ${after === undefined ? sql`true` : sql`id < ${PaymentId.toUuid(after)}`}
    ORDER BY id DESC
    LIMIT ${limit}
  `.pipe(decodePayments, Effect.map((rows) => rows.map(toPayment)))

/** Claims open payments that are due, and makes them due later. */
export const claimDue = (sql: SqlClient.SqlClient, { limit, provider }: DueQuery) =>
  Effect.flatMap(DatabaseTime.now, (now) =>
    sql`
      WITH due AS (
        SELECT id AS due_id, due_at AS was_due_at
        FROM payments_payment
        WHERE status = 'open' AND provider = ${provider} AND due_at <= ${now}
        ORDER BY due_at
        LIMIT ${limit}
        FOR UPDATE SKIP LOCKED
      ), claimed AS (
        UPDATE payments_payment
        SET looks = looks + 1,
          due_at = ${now} + interval '1 minute' *
            least(${pauseMinutes.first}::int4 * power(2, least(looks, 20)), ${pauseMinutes.max}::int4)
        FROM due
        WHERE id = due_id
        RETURNING ${columns(sql)}, was_due_at
      )
      SELECT * FROM claimed ORDER BY was_due_at
    `).pipe(decodePayments, Effect.map((rows) => rows.map(toPayment)))

/** Deletes payments that ended before `before`. */
export const deleteSettled = (sql: SqlClient.SqlClient, before: DateTime.Utc, limit: number) =>
  Deletion.run(sql, {
    table: "payments_payment",
    key: "id",
    where: sql`status <> 'open' AND settled_at < ${DateTime.toDate(before)}`,
    orderBy: "settled_at",
    limit
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const dateOf = (time: Option.Option<DateTime.Utc>) => Option.getOrNull(Option.map(time, DateTime.toDate))

const columns = (sql: SqlClient.SqlClient) =>
  sql.literal(
    "id, account, cents::float8 AS cents, provider, provider_reference, status, is_credited, created_at, expires_at, " +
      "settled_at"
  )

const PaymentRow = Schema.Struct({
  id: Schema.String,
  account: Schema.String,
  cents: Schema.Int,
  provider: Schema.String,
  provider_reference: Schema.NullOr(Schema.String),
  status: PaymentStatus,
  is_credited: Schema.Boolean,
  created_at: Rows.timestamptz,
  expires_at: Schema.NullOr(Rows.timestamptz),
  settled_at: Schema.NullOr(Rows.timestamptz)
})

const decodePayments = Rows.decodeAll(PaymentRow)

const toPayment = (row: typeof PaymentRow.Type): Payment => ({
  id: PaymentId.fromUuid(row.id),
  account: row.account,
  cents: row.cents,
  provider: row.provider,
  providerReference: Option.fromNullOr(row.provider_reference),
  status: row.status,
  isCredited: row.is_credited,
  createdAt: row.created_at,
  expiresAt: Option.fromNullOr(row.expires_at),
  settledAt: Option.fromNullOr(row.settled_at)
})
