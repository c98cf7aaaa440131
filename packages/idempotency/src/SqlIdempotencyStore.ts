/** Claims in Postgres or PGlite, in the table `idempotency_claim`. */
import type { Migrations } from "@kinora/persistence/Migrations"
import * as StorageError from "@kinora/persistence/StorageError"
import { DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlError, SqlSchema } from "effect/sql"
import type * as Claim from "./Claim.ts"
import { Fingerprint } from "./Fingerprint.ts"
import { IdempotencyError, InProgress } from "./IdempotencyError.ts"
import { type Arriving, IdempotencyStore } from "./IdempotencyStore.ts"
import { migrations as record } from "./internal/migrations.ts"

/** The schema of this package. */
export const migrations: Migrations = record

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient

  const find = SqlSchema.findAll({
    Request: Slots,
    Result: HeldRow,
    execute: ({ identities, scopes }) =>
      sql`
        SELECT scope, identity, fingerprint, reference, expires_at AS "expiresAt"
        FROM idempotency_claim
        WHERE (scope, identity) IN (SELECT * FROM unnest(${scopes}::text[], ${identities}::text[]))
      `
  })

  // Waits on the unique index for a unit that is about to claim the same slot. A
  // claim that still holds is locked and left alone, so it is not returned.
  const claim = SqlSchema.findAll({
    Request: Rows,
    Result: SlotRow,
    execute: (rows) =>
      sql`
        INSERT INTO idempotency_claim AS held (scope, identity, fingerprint, reference, claimed_at, expires_at)
        SELECT scope, identity, fingerprint, reference, at, expires_at
        FROM ${arriving(rows)}
        ORDER BY place
        ON CONFLICT (scope, identity) DO UPDATE
        SET fingerprint = excluded.fingerprint,
          reference = excluded.reference,
          claimed_at = excluded.claimed_at,
          expires_at = excluded.expires_at
        WHERE held.expires_at <= excluded.claimed_at
        RETURNING scope, identity
      `
  })

  const arriving = (rows: typeof Rows.Type) =>
    sql`
      unnest(
        ${rows.scopes}::text[], ${rows.identities}::text[], ${rows.fingerprints}::text[], ${rows.references}::text[],
        ${rows.ats}::timestamptz[], ${rows.expiresAts}::timestamptz[]
      ) WITH ORDINALITY AS arriving (scope, identity, fingerprint, reference, at, expires_at, place)
    `

  return IdempotencyStore.of({
    find: (slots) => find(slotColumns(slots)).pipe(StorageError.mapSql("IdempotencyStore.find")),

    claim: Effect.fnUntraced(
      function*(claims) {
        const claimed = yield* claim(columnsOf(claims))
        if (claimed.length === claims.length) return []
        const taken = new Set(claimed.map(({ identity, scope }) => JSON.stringify([scope, identity])))
        const others = claims.filter(({ identity, scope }) => !taken.has(JSON.stringify([scope, identity])))
        return yield* find(slotColumns(others))
      },
      Effect.catchIf(isLockTimeout, () => Effect.fail(new IdempotencyError({ reason: new InProgress() }))),
      StorageError.mapSql("IdempotencyStore.claim")
    ),

    release: (held) => {
      const { identities, scopes } = slotColumns(held)
      return sql`
        DELETE FROM idempotency_claim AS held
        USING unnest(${scopes}::text[], ${identities}::text[], ${held.map((claim) => claim.reference)}::text[])
          AS refused (scope, identity, reference)
        WHERE held.scope = refused.scope
          AND held.identity = refused.identity
          AND held.reference = refused.reference
      `.pipe(Effect.asVoid, StorageError.mapSql("IdempotencyStore.release"))
    },

    extend: (claims) =>
      sql`
        INSERT INTO idempotency_claim AS held (scope, identity, fingerprint, reference, claimed_at, expires_at)
        SELECT scope, identity, fingerprint, reference, at, expires_at
        FROM ${arriving(columnsOf(claims))}
        ORDER BY place
        ON CONFLICT (scope, identity) DO UPDATE
        SET fingerprint = excluded.fingerprint,
          reference = excluded.reference,
          claimed_at = excluded.claimed_at,
          expires_at = excluded.expires_at
        WHERE held.expires_at <= excluded.claimed_at
          OR (held.reference = excluded.reference AND held.expires_at < excluded.expires_at)
      `.pipe(Effect.asVoid, StorageError.mapSql("IdempotencyStore.extend")),

    // SKIP LOCKED: a claim that somebody is taking over is not worth waiting for.
    sweep: (at, limit) =>
      sql`
        DELETE FROM idempotency_claim
        WHERE (scope, identity) IN (
          SELECT scope, identity
          FROM idempotency_claim
          WHERE expires_at <= ${DateTime.toDate(at)}
          ORDER BY expires_at
          LIMIT ${limit}
          FOR UPDATE SKIP LOCKED
        )
        RETURNING 1
      `.pipe(Effect.map((rows) => rows.length), StorageError.mapSql("IdempotencyStore.sweep"))
  })
})

/** The store over the surrounding `SqlClient`. Run `migrations` first. */
export const layer: Layer.Layer<IdempotencyStore, never, SqlClient.SqlClient> = Layer.effect(IdempotencyStore, make)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const SlotRow = Schema.Struct({ scope: Schema.String, identity: Schema.String })

const HeldRow = Schema.Struct({
  ...SlotRow.fields,
  fingerprint: Fingerprint,
  reference: Schema.String,
  expiresAt: Schema.DateTimeUtcFromDate
})

const Slots = Schema.Struct({ scopes: Schema.Array(Schema.String), identities: Schema.Array(Schema.String) })

const Rows = Schema.Struct({
  ...Slots.fields,
  fingerprints: Schema.Array(Schema.String),
  references: Schema.Array(Schema.String),
  ats: Schema.Array(Schema.Date),
  expiresAts: Schema.Array(Schema.Date)
})

const slotColumns = (slots: ReadonlyArray<Claim.Slot>): typeof Slots.Type => ({
  scopes: slots.map((slot) => slot.scope),
  identities: slots.map((slot) => slot.identity)
})

const columnsOf = (claims: ReadonlyArray<Arriving>): typeof Rows.Type => ({
  ...slotColumns(claims),
  fingerprints: claims.map((claim) => claim.fingerprint),
  references: claims.map((claim) => claim.reference),
  ats: claims.map((claim) => DateTime.toDate(claim.at)),
  expiresAts: claims.map((claim) => DateTime.toDate(claim.expiresAt))
})

const isLockTimeout = (error: unknown): error is SqlError.SqlError =>
  SqlError.isSqlError(error) && error.reason._tag === "LockTimeoutError"
