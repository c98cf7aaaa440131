/** `ImageStore` in Postgres. */
import { DatabaseTime, Pipelining, Rows } from "@kinora/persistence"
import { mapSql } from "@kinora/persistence/StorageError"
import { DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { ImageMime, UploadId } from "../../Generation.ts"
import { ImageStore, type KeptImage } from "../../ImageStore.ts"

/** Requires the tables of this package's migrations. */
export const layer: Layer.Layer<ImageStore, never, SqlClient.SqlClient> = Layer.effect(
  ImageStore,
  Effect.map(SqlClient.SqlClient, (sql) =>
    ImageStore.of({
      insert: insert(sql),
      lockAccount: lockAccount(sql),
      countUsable: countUsable(sql),
      findUsable: findUsable(sql),
      keep: keep(sql),
      withdraw: withdraw(sql),
      drop: drop(sql),
      delete: remove(sql)
    }))
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Store = ImageStore["Service"]

const columns =
  "image.id, image.account, image.mime, image.width, image.height, image.bytes, image.usable_until, image.kept_until"

const insert = (sql: SqlClient.SqlClient): Store["insert"] => (images) =>
  Pipelining.write(
    sql,
    sql`
      INSERT INTO generation_image ${
      Rows.unnest(images, {
        id: ["uuid", ({ id }) => UploadId.toUuid(id)],
        ...Rows.fields({ account: "text", mime: "text", width: "int4", height: "int4", bytes: "int4" }),
        usable_until: ["timestamptz?", ({ usableUntil }) => usableUntil],
        kept_until: ["timestamptz", ({ keptUntil }) => keptUntil],
        is_dropped: ["boolean", () => false]
      })
    }
    `
  ).pipe(mapSql("ImageStore.insert"))

const countUsable = (sql: SqlClient.SqlClient): Store["countUsable"] => (account, at) =>
  Effect.flatMap(DatabaseTime.hostClock, (clock) =>
    decodeUsable(sql`
      SELECT count(*)::int AS count, coalesce(sum(bytes), 0)::float8 AS bytes
      FROM generation_image
      WHERE account = ${account} AND usable_until > ${clock.toDatabase(at)}
    `)).pipe(
      Effect.map(([row]) => row ?? { count: 0, bytes: 0 }),
      mapSql("ImageStore.countUsable")
    )

/** Locks the name of the account, since an account without uploads has no row to lock. Accounts with the same hash wait for each other. */
const lockAccount = (sql: SqlClient.SqlClient): Store["lockAccount"] => (account) =>
  sql`SELECT true FROM pg_advisory_xact_lock(hashtextextended(${`generation_image:${account}`}, 0))`.pipe(
    Effect.asVoid,
    mapSql("ImageStore.lockAccount")
  )

const findUsable = (sql: SqlClient.SqlClient): Store["findUsable"] => (account, ids, at) =>
  Effect.flatMap(DatabaseTime.hostClock, (clock) =>
    sql`
    SELECT ${sql.literal(columns)}
    FROM generation_image AS image
    WHERE id = ANY(${Rows.array("uuid", ids.map(UploadId.toUuid))})
      AND account = ${account}
      AND usable_until > ${clock.toDatabase(at)}
  `).pipe(decodeImages, mapSql("ImageStore.findUsable"))

const keep = (sql: SqlClient.SqlClient): Store["keep"] => (keeps) =>
  // The rows need no lock order: units that keep the same images hold the lock of their account, and sweeps skip
  // locked rows.
  sql`
    UPDATE generation_image AS image
    SET kept_until = greatest(image.kept_until, wanted.until)
    FROM ${
    Rows.table("wanted", keeps, {
      id: ["uuid", ({ id }) => UploadId.toUuid(id)],
      ...Rows.fields({ account: "text", until: "timestamptz" })
    })
  }
    WHERE image.id = wanted.id AND image.account = wanted.account AND NOT image.is_dropped
    RETURNING ${sql.literal(columns)}
  `.pipe(decodeImages, mapSql("ImageStore.keep"))

const withdraw = (sql: SqlClient.SqlClient): Store["withdraw"] => (account, id, at, retryAt) =>
  // With the condition, the first statement of a unit is sent together with BEGIN.
  Effect.flatMap(Effect.zip(DatabaseTime.hostClock, Pipelining.begun(sql)), ([clock, begun]) =>
    decodeDropped(sql`
    UPDATE generation_image SET
      usable_until = NULL,
      is_dropped = kept_until <= ${clock.toDatabase(at)},
      kept_until = CASE WHEN kept_until <= ${clock.toDatabase(at)} THEN ${clock.toDatabase(retryAt)} ELSE kept_until END
    WHERE id = ${UploadId.toUuid(id)}::uuid AND account = ${account} AND usable_until > ${clock.toDatabase(at)}
      AND ${begun}
    RETURNING is_dropped
  `)).pipe(
      Effect.map(([row]) => row === undefined ? "Missing" : row.is_dropped ? "Dropped" : "Kept"),
      mapSql("ImageStore.withdraw")
    )

const drop = (sql: SqlClient.SqlClient): Store["drop"] => (at, retryAt, limit) =>
  Effect.flatMap(DatabaseTime.hostClock, (clock) =>
    sql`
    UPDATE generation_image SET usable_until = NULL, kept_until = ${clock.toDatabase(retryAt)}, is_dropped = true
    WHERE id IN (
      SELECT id
      FROM generation_image
      WHERE greatest(usable_until, kept_until) <= ${clock.toDatabase(at)}
      ORDER BY greatest(usable_until, kept_until)
      LIMIT ${limit}
      FOR UPDATE SKIP LOCKED
    )
    RETURNING id
  `).pipe(
      decodeIds,
      Effect.map((rows) => rows.map(({ id }) => UploadId.fromUuid(id))),
      mapSql("ImageStore.drop")
    )

const remove = (sql: SqlClient.SqlClient): Store["delete"] => (ids) =>
  sql`DELETE FROM generation_image WHERE id = ANY(${Rows.array("uuid", ids.map(UploadId.toUuid))})`.pipe(
    Effect.asVoid,
    mapSql("ImageStore.delete")
  )

const decodeRows = Rows.decodeAll(Schema.Struct({
  id: Schema.String,
  account: Schema.String,
  mime: ImageMime,
  width: Schema.Int,
  height: Schema.Int,
  bytes: Schema.Int,
  usable_until: Schema.NullOr(Schema.Date),
  kept_until: Schema.Date
}))

const decodeImages = <E, R>(statement: Effect.Effect<ReadonlyArray<unknown>, E, R>) =>
  Effect.map(decodeRows(statement), (rows) =>
    rows.map(({ id, kept_until, usable_until, ...rest }): KeptImage => ({
      ...rest,
      id: UploadId.fromUuid(id),
      usableUntil: usable_until === null ? null : DateTime.fromDateUnsafe(usable_until),
      keptUntil: DateTime.fromDateUnsafe(kept_until)
    })))

const decodeUsable = Rows.decodeAll(Schema.Struct({ count: Schema.Int, bytes: Schema.Finite }))

const decodeDropped = Rows.decodeAll(Schema.Struct({ is_dropped: Schema.Boolean }))

const decodeIds = Rows.decodeAll(Schema.Struct({ id: Schema.String }))
