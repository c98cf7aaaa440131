/** Stores claims in Postgres or PGlite, in the table `idempotency_claim`. */
import * as DatabaseTime from "@kinora/persistence/DatabaseTime"
import type { Relocatable } from "@kinora/persistence/Migrations"
import * as Pipelining from "@kinora/persistence/Pipelining"
import * as Rows from "@kinora/persistence/Rows"
import { mapSql } from "@kinora/persistence/StorageError"
import { Duration, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlError, type Statement } from "effect/sql"
import { Fingerprint } from "./Fingerprint.ts"
import { IdempotencyError, InProgress } from "./IdempotencyError.ts"
import { IdempotencyStore } from "./IdempotencyStore.ts"
import { type Arriving, type Completion, type Held, type Holder, type Slot, slotText } from "./internal/claims.ts"
import * as Tables from "./migrations.ts"

/** The table of this package. */
export const migrations: Relocatable = Tables.migrations

/** Provides a store over the surrounding `SqlClient`. Run `migrations` first. */
export const layer: Layer.Layer<IdempotencyStore, never, SqlClient.SqlClient> = Layer.effect(
  IdempotencyStore,
  Effect.map(SqlClient.SqlClient, (sql) =>
    IdempotencyStore.of({
      find: (slots) => mapSql("IdempotencyStore.find")(findHeld(sql, slots)),
      claim: (arriving) => mapSql("IdempotencyStore.claim")(claim(sql, arriving)),
      release: (held) => mapSql("IdempotencyStore.release")(Effect.asVoid(release(sql, held))),
      extend: (arriving) => mapSql("IdempotencyStore.extend")(Effect.asVoid(extend(sql, arriving))),
      renew: (arriving) => mapSql("IdempotencyStore.renew")(Effect.asVoid(renew(sql, arriving))),
      complete: (completion) => mapSql("IdempotencyStore.complete")(complete(sql, completion)),
      forget: (scope, limit) =>
        mapSql("IdempotencyStore.forget")(Effect.map(forget(sql, scope, limit), ({ length }) => length)),
      sweep: (limit) => mapSql("IdempotencyStore.sweep")(Effect.map(sweep(sql, limit), ({ length }) => length))
    }))
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const claim = Effect.fnUntraced(
  function*(sql: SqlClient.SqlClient, arriving: ReadonlyArray<Arriving>) {
    const claimed = yield* insertFree(sql, arriving)
    if (claimed.length === arriving.length) return []
    const own = new Set(claimed.map(slotText))
    // Also those that have expired since the first statement, which they refused.
    return yield* find(sql, arriving.filter((slot) => !own.has(slotText(slot))))
  },
  Effect.catchIf(
    (error): error is SqlError.SqlError => SqlError.isSqlError(error) && error.reason._tag === "LockTimeoutError",
    (cause) => Effect.fail(new IdempotencyError({ reason: new InProgress(), cause }))
  )
)

const slotColumns = {
  scope: ["text", ({ scope }: Slot) => scope],
  identity: ["text", ({ identity }: Slot) => identity]
} as const

const findHeld = (sql: SqlClient.SqlClient, slots: ReadonlyArray<Slot>) =>
  Effect.flatMap(DatabaseTime.now, (now) => find(sql, slots, sql`WHERE held.expires_at > ${now}`))

/** Finds claims in slots, expired or not. A condition may follow. */
const find = (sql: SqlClient.SqlClient, slots: ReadonlyArray<Slot>, condition: Statement.Fragment = sql``) =>
  decodeHeld(sql`
    SELECT held.scope, held.identity, held.fingerprint, held.reference, held.expires_at AS "expiresAt",
      held.response_status AS status, held.response_headers AS headers, held.response_body AS body
    FROM idempotency_claim AS held
    JOIN ${Rows.table("wanted", slots, slotColumns, { unknownLength: true })}
      ON wanted.scope = held.scope AND wanted.identity = held.identity
    ${condition}
  `)

const SlotRow = Schema.Struct({ scope: Schema.String, identity: Schema.String })

const HeldRow = Schema.Struct({
  ...SlotRow.fields,
  fingerprint: Fingerprint,
  reference: Schema.String,
  expiresAt: Rows.timestamptz,
  status: Schema.NullOr(Schema.Int),
  headers: Schema.NullOr(Schema.fromJsonString(Schema.Array(Schema.Tuple([Schema.String, Schema.String])))),
  body: Schema.NullOr(Rows.bytea)
})

const decodeRows = Rows.decodeAll(HeldRow)

const decodeHeld = <E, R>(rows: Effect.Effect<ReadonlyArray<object>, E, R>) =>
  Effect.map(
    decodeRows(rows),
    (rows) =>
      rows.map(({ body, headers, status, ...held }): Held =>
        status === null || headers === null ? held : { ...held, response: { status, headers, body: body ?? undefined } }
      )
  )

/**
 * Inserts claims and takes over expired ones. Returns their slots. Waits on the unique
 * index for a unit that is claiming the same slot. A claim that holds is locked, so that
 * it stays until the unit ends, and is not returned.
 */
const insertFree = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, arriving: ReadonlyArray<Arriving>) {
  const now = yield* DatabaseTime.now
  return yield* decodeSlots(sql`
    ${insertArriving(sql, arriving, now, sql`WHERE ${yield* Pipelining.begun(sql)}`)}
    WHERE held.expires_at <= excluded.claimed_at
    RETURNING scope, identity
  `)
})

const decodeSlots = Rows.decodeAll(SlotRow)

const extend = (sql: SqlClient.SqlClient, arriving: ReadonlyArray<Arriving>) =>
  Effect.flatMap(DatabaseTime.now, (now) =>
    sql`
    ${insertArriving(sql, arriving, now)}
    WHERE held.expires_at <= excluded.claimed_at
      OR (held.reference = excluded.reference AND held.expires_at < excluded.expires_at)
  `)

const arrivingColumns: Rows.Columns<Arriving> = {
  ...slotColumns,
  ...Rows.fields({ fingerprint: "text", reference: "text" }),
  held_for: ["float8", ({ window }) => Duration.toMillis(window)]
}

/** Inserts claims in the order of the set, so that units lock their slots in one order. The condition for rows that exist follows. */
const insertArriving = (
  sql: SqlClient.SqlClient,
  arriving: ReadonlyArray<Arriving>,
  now: Statement.Fragment,
  condition = sql``
) =>
  sql`
    INSERT INTO idempotency_claim AS held (scope, identity, fingerprint, reference, claimed_at, expires_at)
    SELECT scope, identity, fingerprint, reference, ${now}, ${now} + held_for * interval '1 millisecond'
    FROM ${Rows.table("arriving", arriving, arrivingColumns, { place: "place" })}
    ${condition}
    ORDER BY place
    ON CONFLICT (scope, identity) DO UPDATE
    SET fingerprint = excluded.fingerprint,
      reference = excluded.reference,
      claimed_at = excluded.claimed_at,
      expires_at = excluded.expires_at,
      response_status = NULL, response_headers = NULL, response_body = NULL
  `

const release = (sql: SqlClient.SqlClient, claims: ReadonlyArray<Holder>) =>
  sql`
    DELETE FROM idempotency_claim AS held
    USING ${Rows.table("refused", claims, { ...slotColumns, reference: ["text", ({ reference }) => reference] })}
    WHERE held.scope = refused.scope
      AND held.identity = refused.identity
      AND held.reference = refused.reference
      AND held.response_status IS NULL
  `

/** Skips locked claims: a unit that stores a response may take longer than the time between two renewals. */
const renew = (sql: SqlClient.SqlClient, arriving: ReadonlyArray<Arriving>) =>
  Effect.flatMap(DatabaseTime.now, (now) =>
    sql`
    UPDATE idempotency_claim AS held
    SET claimed_at = ${now}, expires_at = ${now} + running.held_for * interval '1 millisecond'
    FROM (
      SELECT claim.scope, claim.identity, arriving.held_for
      FROM ${Rows.table("arriving", arriving, arrivingColumns)}
      JOIN idempotency_claim AS claim
        ON claim.scope = arriving.scope AND claim.identity = arriving.identity
        AND claim.reference = arriving.reference AND claim.response_status IS NULL
      FOR UPDATE OF claim SKIP LOCKED
    ) AS running
    WHERE held.scope = running.scope AND held.identity = running.identity
  `)

const complete = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, completion: Completion) {
  const { identity, reference, response: { body, headers, status }, scope, window } = completion
  const now = yield* DatabaseTime.now
  const completed = yield* sql`
    UPDATE idempotency_claim
    SET claimed_at = ${now}, expires_at = ${DatabaseTime.after(now, window)}, response_status = ${status},
      response_headers = ${JSON.stringify(headers)}, response_body = ${body ?? null}
    WHERE scope = ${scope} AND identity = ${identity} AND reference = ${reference} AND response_status IS NULL
    RETURNING 1
  `
  return completed.length > 0
})

/** Waits for locked claims, in the order of their identities, as `claim` locks them. An array, so that the subquery runs once. */
const forget = (sql: SqlClient.SqlClient, scope: string, limit: number) =>
  sql`
    DELETE FROM idempotency_claim
    WHERE scope = ${scope} AND identity = ANY(ARRAY(
      SELECT identity
      FROM idempotency_claim
      WHERE scope = ${scope}
      ORDER BY identity
      LIMIT ${limit}
      FOR UPDATE
    ))
    RETURNING 1
  `

/** Skips locked claims, which another unit is taking over. */
const sweep = (sql: SqlClient.SqlClient, limit: number) =>
  Effect.flatMap(DatabaseTime.now, (now) =>
    sql`
    DELETE FROM idempotency_claim
    WHERE (scope, identity) IN (
      SELECT scope, identity
      FROM idempotency_claim
      WHERE expires_at <= ${now}
      ORDER BY expires_at
      LIMIT ${limit}
      FOR UPDATE SKIP LOCKED
    )
    RETURNING 1
  `)
