/** What is known of images, in Postgres. */
import { mapSql } from "@kinora/persistence/StorageError"
import { DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { ImageMime, UploadId } from "../../Generation.ts"
import { ImageStore, type KeptImage } from "../../ImageStore.ts"

/** Expects the schema of this package's migrations. */
export const layer: Layer.Layer<ImageStore, never, SqlClient.SqlClient> = Layer.effect(
  ImageStore,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const columns = sql.literal(
      "image.id, image.account, image.mime, image.width, image.height, image.bytes, image.usable_until, image.kept_until"
    )

    return ImageStore.of({
      insert: (images) =>
        sql`
          INSERT INTO generation_image (
            id, account, mime, width, height, bytes, usable_until, kept_until, is_dropped
          )
          SELECT id, account, mime, width, height, bytes, usable_until, kept_until, false
          FROM jsonb_to_recordset(${JSON.stringify(images.map(toInsert))}::jsonb) AS added (
            id uuid, account text, mime text, width int, height int, bytes int, usable_until timestamptz,
            kept_until timestamptz
          )
        `.pipe(Effect.asVoid, mapSql("ImageStore.insert")),

      // An account without uploads has no row to lock, so its name is locked. A
      // collision of hashes makes two accounts wait for each other and nothing else.
      countUsable: (account, at) =>
        sql`SELECT pg_advisory_xact_lock(hashtextextended(${`generation_image:${account}`}, 0))`.pipe(
          Effect.andThen(sql`
            SELECT count(*)::int AS count
            FROM generation_image
            WHERE account = ${account} AND usable_until > ${DateTime.toDate(at)}
          `),
          Effect.flatMap(decodeCount),
          Effect.map(([{ count }]) => count),
          mapSql("ImageStore.countUsable")
        ),

      findUsable: (account, ids, at) =>
        sql`
          SELECT ${columns}
          FROM generation_image AS image
          WHERE id = ANY(${ids.map(UploadId.toUuid)}::uuid[])
            AND account = ${account}
            AND usable_until > ${DateTime.toDate(at)}
        `.pipe(Effect.flatMap(decodeRows), Effect.map((rows) => rows.map(fromRow)), mapSql("ImageStore.findUsable")),

      // Units that keep the same images hold the lock of their account, and sweeps pass
      // over what is locked, so the order of the rows does not matter.
      keep: (keeps) =>
        sql`
          UPDATE generation_image AS image
          SET kept_until = greatest(image.kept_until, wanted.until)
          FROM jsonb_to_recordset(${
          JSON.stringify(keeps.map(({ account, id, until }) => ({
            id: UploadId.toUuid(id),
            account,
            until: DateTime.formatIso(until)
          })))
        }::jsonb) AS wanted (id uuid, account text, until timestamptz)
          WHERE image.id = wanted.id AND image.account = wanted.account AND NOT image.is_dropped
          RETURNING ${columns}
        `.pipe(Effect.flatMap(decodeRows), Effect.map((rows) => rows.map(fromRow)), mapSql("ImageStore.keep")),

      withdraw: (account, id, at) =>
        sql`
          UPDATE generation_image SET usable_until = NULL
          WHERE id = ${UploadId.toUuid(id)}::uuid AND account = ${account} AND usable_until > ${DateTime.toDate(at)}
          RETURNING 1
        `.pipe(Effect.map((rows) => rows.length > 0), mapSql("ImageStore.withdraw")),

      drop: (at, retryAt, limit) =>
        sql`
          UPDATE generation_image SET usable_until = NULL, kept_until = ${DateTime.toDate(retryAt)}, is_dropped = true
          WHERE id IN (
            SELECT id
            FROM generation_image
            WHERE greatest(usable_until, kept_until) <= ${DateTime.toDate(at)}
            ORDER BY greatest(usable_until, kept_until)
            LIMIT ${limit}
            FOR UPDATE SKIP LOCKED
          )
          RETURNING id
        `.pipe(
          Effect.flatMap(decodeIds),
          Effect.map((rows) => rows.map(({ id }) => UploadId.fromUuid(id))),
          mapSql("ImageStore.drop")
        ),

      delete: (ids) =>
        sql`DELETE FROM generation_image WHERE id = ANY(${ids.map(UploadId.toUuid)}::uuid[])`.pipe(
          Effect.asVoid,
          mapSql("ImageStore.delete")
        )
    })
  })
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const Row = Schema.Struct({
  id: Schema.String,
  account: Schema.String,
  mime: ImageMime,
  width: Schema.Int,
  height: Schema.Int,
  bytes: Schema.Int,
  usable_until: Schema.NullOr(Schema.Date),
  kept_until: Schema.Date
})

const decodeRows = Schema.decodeUnknownEffect(Schema.Array(Row))

const decodeCount = Schema.decodeUnknownEffect(Schema.Tuple([Schema.Struct({ count: Schema.Int })]))

const decodeIds = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ id: Schema.String })))

const fromRow = ({ id, kept_until, usable_until, ...rest }: typeof Row.Type): KeptImage => ({
  ...rest,
  id: UploadId.fromUuid(id),
  usableUntil: usable_until === null ? null : DateTime.fromDateUnsafe(usable_until),
  keptUntil: DateTime.fromDateUnsafe(kept_until)
})

const toInsert = ({ id, keptUntil, usableUntil, ...rest }: KeptImage) => ({
  ...rest,
  id: UploadId.toUuid(id),
  usable_until: usableUntil === null ? null : DateTime.formatIso(usableUntil),
  kept_until: DateTime.formatIso(keptUntil)
})
