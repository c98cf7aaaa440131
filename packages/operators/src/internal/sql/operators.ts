/** Statements on operators: methods of the store. */
import { Rows } from "@kinora/persistence"
import { DateTime, Effect, Option, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { type Operator, OperatorId, Role } from "../../Operator.ts"
import type { TokenOwner } from "../../OperatorStore.ts"

/** Locks the set of operators until the transaction ends. */
export const lockAll = (sql: SqlClient.SqlClient) =>
  sql`SELECT true FROM pg_advisory_xact_lock(hashtextextended('operators_operator', 0))`.pipe(Effect.asVoid)

/** Counts the operators that are neither revoked nor expired. */
export const count = (sql: SqlClient.SqlClient, now: DateTime.Utc) =>
  sql`
    SELECT count(*)::int4 AS count
    FROM operators_operator
    WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ${DateTime.toDate(now)})
  `.pipe(Rows.decodeCount)

/** Inserts an operator. */
export const insert = (sql: SqlClient.SqlClient, operator: Operator, hash: string) =>
  sql`
    INSERT INTO operators_operator (id, name, role, hash, prefix, created_at, expires_at)
    VALUES (
      ${OperatorId.toUuid(operator.id)}, ${operator.name}, ${operator.role}, ${hash}, ${operator.prefix},
      ${DateTime.toDate(operator.createdAt)}, ${Option.getOrNull(Option.map(operator.expiresAt, DateTime.toDate))}
    )
  `.pipe(Effect.asVoid)

/** Finds an operator by id. */
export const find = (sql: SqlClient.SqlClient, id: OperatorId) =>
  sql`SELECT ${columns(sql)} FROM operators_operator WHERE id = ${OperatorId.toUuid(id)}`.pipe(
    decodeOperators,
    Rows.first(toOperator)
  )

/** Locks an operator until the transaction ends, and returns it. */
export const lock = (sql: SqlClient.SqlClient, id: OperatorId) =>
  Rows.lockById(sql, "operators_operator", OperatorId.toUuid(id), find(sql, id))

/** Lists operators, revoked ones last, newest first. */
export const list = (sql: SqlClient.SqlClient, limit: number) =>
  sql`
    SELECT ${columns(sql)}
    FROM operators_operator
    ORDER BY revoked_at IS NOT NULL, id DESC
    LIMIT ${limit}
  `.pipe(decodeOperators, Effect.map((rows) => rows.map(toOperator)))

/** Replaces the token of an operator, and keeps the token before as the former one. */
export const replaceToken = (
  sql: SqlClient.SqlClient,
  id: OperatorId,
  { formerUntil, hash, prefix }: {
    readonly hash: string
    readonly prefix: string
    readonly formerUntil: DateTime.Utc
  }
) =>
  sql`
    UPDATE operators_operator
    SET hash = ${hash}, prefix = ${prefix}, former_hash = hash, former_until = ${DateTime.toDate(formerUntil)}
    WHERE id = ${OperatorId.toUuid(id)}
  `.pipe(Effect.asVoid)

/** Revokes an operator. */
export const revoke = (sql: SqlClient.SqlClient, id: OperatorId, at: DateTime.Utc) =>
  sql`
    UPDATE operators_operator SET revoked_at = ${DateTime.toDate(at)} WHERE id = ${OperatorId.toUuid(id)}
  `.pipe(Effect.asVoid)

/** Finds the operator of a current or former token. */
export const findOwner = (sql: SqlClient.SqlClient, hash: string) =>
  sql`
    SELECT ${columns(sql)}, hash <> ${hash} AS is_former
    FROM operators_operator
    WHERE hash = ${hash} OR former_hash = ${hash}
  `.pipe(
    decodeOwners,
    Rows.first((row): TokenOwner => ({ operator: toOperator(row), isFormer: row.is_former }))
  )

/** Records a use at most once per minute. SKIP LOCKED, so that authentication does not wait for a rotation. */
export const noteUse = (sql: SqlClient.SqlClient, id: OperatorId, at: DateTime.Utc) =>
  sql`
    WITH due AS (
      SELECT id
      FROM operators_operator
      WHERE id = ${OperatorId.toUuid(id)}
        AND (last_used_at IS NULL OR last_used_at <= ${DateTime.toDate(at)}::timestamptz - interval '1 minute')
      FOR UPDATE SKIP LOCKED
    )
    UPDATE operators_operator used SET last_used_at = ${DateTime.toDate(at)}
    FROM due
    WHERE used.id = due.id
  `.pipe(Effect.asVoid)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const columns = (sql: SqlClient.SqlClient) =>
  sql.literal("id, name, role, prefix, created_at, expires_at, revoked_at, last_used_at, former_until")

const OperatorRow = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  role: Role,
  prefix: Schema.String,
  created_at: Rows.timestamptz,
  expires_at: Schema.NullOr(Rows.timestamptz),
  revoked_at: Schema.NullOr(Rows.timestamptz),
  last_used_at: Schema.NullOr(Rows.timestamptz),
  former_until: Schema.NullOr(Rows.timestamptz)
})

const decodeOperators = Rows.decodeAll(OperatorRow)

const decodeOwners = Rows.decodeAll(Schema.Struct({ ...OperatorRow.fields, is_former: Schema.Boolean }))

const toOperator = (row: typeof OperatorRow.Type): Operator => ({
  id: OperatorId.fromUuid(row.id),
  name: row.name,
  role: row.role,
  prefix: row.prefix,
  createdAt: row.created_at,
  expiresAt: Option.fromNullOr(row.expires_at),
  revokedAt: Option.fromNullOr(row.revoked_at),
  lastUsedAt: Option.fromNullOr(row.last_used_at),
  formerTokenUntil: Option.fromNullOr(row.former_until)
})
