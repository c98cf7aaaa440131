/** Stores claims in Postgres or PGlite, in the table `idempotency_claim`. */
import * as DatabaseTime from "@kinora/persistence/DatabaseTime"
import type { Relocatable } from "@kinora/persistence/Migrations"
import * as Rows from "@kinora/persistence/Rows"
import { mapSql } from "@kinora/persistence/StorageError"
import { Duration, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlError, type Statement } from "effect/sql"
import { Fingerprint } from "./Fingerprint.ts"
import { IdempotencyError, InProgress } from "./IdempotencyError.ts"
import { IdempotencyStore } from "./IdempotencyStore.ts"
import { type Arriving, type Holder, type Slot, slotText } from "./internal/claims.ts"
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
    SELECT held.scope, held.identity, held.fingerprint, held.reference, held.expires_at AS "expiresAt"
    FROM idempotency_claim AS held
    JOIN ${Rows.table("wanted", slots, slotColumns, { unknownLength: true })}
      ON wanted.scope = held.scope AND wanted.identity = held.identity
    ${condition}
  `)

const SlotRow = Schema.Struct({ scope: Schema.String, identity: Schema.String })

const decodeHeld = Rows.decodeAll(Schema.Struct({
  ...SlotRow.fields,
  fingerprint: Fingerprint,
  reference: Schema.String,
  expiresAt: Rows.timestamptz
}))

/**
 * Inserts claims and takes over expired ones. Returns their slots. Waits on the unique
 * index for a unit that is claiming the same slot. A claim that holds is locked, so that
 * it stays until the unit ends, and is not returned.
 */
const insertFree = (sql: SqlClient.SqlClient, arriving: ReadonlyArray<Arriving>) =>
  Effect.flatMap(DatabaseTime.now, (now) =>
    decodeSlots(sql`
      ${insertArriving(sql, arriving, now)}
      WHERE held.expires_at <= excluded.claimed_at
      RETURNING scope, identity
    `))

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

/** Inserts claims in the order of the set, so that units lock their slots in one order. The condition follows. */
const insertArriving = (sql: SqlClient.SqlClient, arriving: ReadonlyArray<Arriving>, now: Statement.Fragment) =>
  sql`
    INSERT INTO idempotency_claim AS held (scope, identity, fingerprint, reference, claimed_at, expires_at)
    SELECT scope, identity, fingerprint, reference, ${now}, ${now} + held_for * interval '1 millisecond'
    FROM ${Rows.table("arriving", arriving, arrivingColumns, { place: "place" })}
    ORDER BY place
    ON CONFLICT (scope, identity) DO UPDATE
    SET fingerprint = excluded.fingerprint,
      reference = excluded.reference,
      claimed_at = excluded.claimed_at,
      expires_at = excluded.expires_at
  `

const release = (sql: SqlClient.SqlClient, claims: ReadonlyArray<Holder>) =>
  sql`
    DELETE FROM idempotency_claim AS held
    USING ${Rows.table("refused", claims, { ...slotColumns, reference: ["text", ({ reference }) => reference] })}
    WHERE held.scope = refused.scope
      AND held.identity = refused.identity
      AND held.reference = refused.reference
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
