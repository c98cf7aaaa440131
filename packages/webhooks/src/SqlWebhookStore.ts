/**
 * Endpoints, events, deliveries and logs in Postgres or PGlite. What is called all the
 * time takes one statement, whatever the size of its set.
 *
 * Locks are taken in this order, and those of one kind in the order of ids: the name of
 * an account, an endpoint, deliveries, events. Claims and sweeps pass over what is
 * locked instead of waiting. Publishing locks nothing.
 */
import type { Migrations } from "@kinora/persistence/Migrations"
import { mapSql } from "@kinora/persistence/StorageError"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { DateTime, Effect, Layer, Result, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type Claim, type Claimed, DeliveryId } from "./Delivery.ts"
import { EndpointId } from "./Endpoint.ts"
import { EventId } from "./Event.ts"
import * as Schemas from "./internal/migrations.ts"
import * as Rows from "./internal/rows.ts"
import * as Statements from "./internal/statements.ts"
import * as Sweeping from "./internal/sweeping.ts"
import { type Settlement, WebhookStore } from "./WebhookStore.ts"

/** The tables of this package. */
export const migrations: Migrations = {
  namespace: "webhooks",
  migrations: { "0001_endpoints_and_deliveries": Schemas.endpointsAndDeliveries }
}

const makeEndpoints = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const { atomically } = yield* UnitOfWork
  const columns = sql.literal(Rows.endpointColumns)

  return {
    // An account without endpoints has no row to lock, so its name is locked. A
    // collision of hashes makes two accounts wait for each other and nothing else.
    countEndpoints: (account) =>
      sql`SELECT pg_advisory_xact_lock(hashtextextended(${`webhooks_endpoint:${account}`}, 0))`.pipe(
        Effect.andThen(countRows(sql`
          SELECT count(*)::int4 AS count FROM webhooks_endpoint WHERE account = ${account} AND NOT is_removed
        `)),
        Effect.map(([row]) => row?.count ?? 0),
        mapSql("WebhookStore.countEndpoints")
      ),

    insertEndpoint: ({ endpoint, secrets }) =>
      sql`
        WITH added AS (
          INSERT INTO webhooks_endpoint (
            id, account, url, types, status, created_at, secret_created_at, is_removed
          )
          VALUES (
            ${EndpointId.toUuid(endpoint.id)}, ${endpoint.account}, ${endpoint.url}, ${endpoint.types}::text[],
            ${endpoint.status}, ${DateTime.toDate(endpoint.createdAt)}, ${DateTime.toDate(endpoint.secretCreatedAt)},
            false
          )
        )
        ${Statements.putSecrets(sql, endpoint.id, secrets)}
      `.pipe(Effect.asVoid, mapSql("WebhookStore.insertEndpoint")),

    findEndpoints: (accounts) =>
      endpointRows(sql`
        SELECT ${columns}
        FROM webhooks_endpoint AS endpoint
        WHERE account = ANY(${accounts}::text[]) AND NOT is_removed
        ORDER BY created_at, id
      `).pipe(Effect.map((rows) => rows.map(Rows.toEndpoint)), mapSql("WebhookStore.findEndpoints")),

    // Read once it is locked, so that its secrets are those that it has then.
    loadEndpoint: (account, id) =>
      sql`
        SELECT 1
        FROM webhooks_endpoint
        WHERE id = ${EndpointId.toUuid(id)} AND account = ${account} AND NOT is_removed
        FOR UPDATE
      `.pipe(
        Effect.andThen(recordRows(sql`
          SELECT ${columns}, ${Statements.secrets(sql, sql`true`)}
          FROM webhooks_endpoint AS endpoint
          WHERE id = ${EndpointId.toUuid(id)} AND account = ${account} AND NOT is_removed
        `)),
        Effect.map(([row]) => row && Rows.toRecord(row)),
        atomically,
        mapSql("WebhookStore.loadEndpoint")
      ),

    saveEndpoint: ({ endpoint, secrets }) =>
      sql`
        WITH saved AS (
          UPDATE webhooks_endpoint
          SET url = ${endpoint.url},
            types = ${endpoint.types}::text[],
            status = ${endpoint.status},
            secret_created_at = ${DateTime.toDate(endpoint.secretCreatedAt)}
          WHERE id = ${EndpointId.toUuid(endpoint.id)}
        ), dropped AS (
          DELETE FROM webhooks_secret
          WHERE endpoint_id = ${EndpointId.toUuid(endpoint.id)} AND place >= ${secrets.length}
        )
        ${Statements.putSecrets(sql, endpoint.id, secrets)}
      `.pipe(Effect.asVoid, mapSql("WebhookStore.saveEndpoint")),

    removeEndpoint: (id) =>
      sql`
        WITH dropped AS (DELETE FROM webhooks_secret WHERE endpoint_id = ${EndpointId.toUuid(id)})
        UPDATE webhooks_endpoint SET is_removed = true WHERE id = ${EndpointId.toUuid(id)}
      `.pipe(Effect.asVoid, mapSql("WebhookStore.removeEndpoint")),

    findStaleSecrets: (prefix, now, limit) =>
      ownerRows(sql`
        SELECT DISTINCT endpoint.id, endpoint.account
        FROM webhooks_secret AS secret
        JOIN webhooks_endpoint AS endpoint ON endpoint.id = secret.endpoint_id
        WHERE secret.sealed < ${prefix}
          OR secret.sealed > ${prefix + lastCharacter}
          OR secret.expires_at <= ${DateTime.toDate(now)}
        ORDER BY endpoint.id
        LIMIT ${limit}
      `).pipe(
        Effect.map((rows) => rows.map(({ account, id }) => ({ account, id: EndpointId.fromUuid(id) }))),
        mapSql("WebhookStore.findStaleSecrets")
      )
  } satisfies Partial<WebhookStore["Service"]>
})

const makeDeliveries = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const columns = sql.literal(Rows.deliveryColumns)

  return {
    publish: (events, deliveries) => {
      const createdAt = new Map(events.map((event) => [event.id, DateTime.toDate(event.createdAt)]))
      return sql`
        WITH added AS (
          INSERT INTO webhooks_event (id, account, type, data, created_at)
          SELECT id, account, type, data::json, created_at
          FROM unnest(
            ${events.map(({ id }) => EventId.toUuid(id))}::uuid[],
            ${events.map(({ account }) => account)}::text[],
            ${events.map(({ type }) => type)}::text[],
            ${events.map(({ data }) => JSON.stringify(data))}::text[],
            ${events.map((event) => DateTime.toDate(event.createdAt))}::timestamptz[]
          ) AS event (id, account, type, data, created_at)
        )
        INSERT INTO webhooks_delivery (id, event_id, endpoint_id, status, due_at, begun_at)
        SELECT id, event_id, endpoint_id, 'pending', at, at
        FROM unnest(
          ${deliveries.map(({ id }) => DeliveryId.toUuid(id))}::uuid[],
          ${deliveries.map(({ event }) => EventId.toUuid(event))}::uuid[],
          ${deliveries.map(({ endpoint }) => EndpointId.toUuid(endpoint))}::uuid[],
          ${deliveries.map(({ event }) => createdAt.get(event)!)}::timestamptz[]
        ) AS delivery (id, event_id, endpoint_id, at)
      `.pipe(Effect.asVoid, mapSql("WebhookStore.publish"))
    },

    loadDelivery: (account, id) =>
      deliveryRows(sql`
        SELECT ${columns}
        FROM webhooks_delivery AS delivery
        JOIN webhooks_endpoint AS endpoint ON endpoint.id = delivery.endpoint_id
        JOIN webhooks_event AS event ON event.id = delivery.event_id
        WHERE delivery.id = ${DeliveryId.toUuid(id)} AND endpoint.account = ${account} AND NOT endpoint.is_removed
        FOR UPDATE OF delivery
      `).pipe(Effect.map(([row]) => row && Rows.toDelivery(row)), mapSql("WebhookStore.loadDelivery")),

    restart: (id, at) =>
      sql`
        UPDATE webhooks_delivery
        SET status = 'pending',
          due_at = ${DateTime.toDate(at)},
          begun_at = ${DateTime.toDate(at)},
          claims_void = claims,
          failed_sends = 0,
          body = NULL
        WHERE id = ${DeliveryId.toUuid(id)}
      `.pipe(Effect.asVoid, mapSql("WebhookStore.restart")),

    listDeliveries: (endpoint, limit, before) =>
      deliveryRows(sql`
        SELECT ${columns}
        FROM webhooks_delivery AS delivery
        JOIN webhooks_event AS event ON event.id = delivery.event_id
        WHERE delivery.endpoint_id = ${EndpointId.toUuid(endpoint)}
          AND delivery.id < ${before === undefined ? lastUuid : DeliveryId.toUuid(before)}
          AND EXISTS (SELECT FROM webhooks_endpoint WHERE id = delivery.endpoint_id AND NOT is_removed)
        ORDER BY delivery.id DESC
        LIMIT ${limit}
      `).pipe(Effect.map((rows) => rows.map(Rows.toDelivery)), mapSql("WebhookStore.listDeliveries")),

    listSends: (endpoint, limit) =>
      sendRows(sql`
        SELECT
          delivery_id AS delivery, type, attempt, at, duration_ms AS "durationMillis", http_status AS "httpStatus",
          reason
        FROM webhooks_send AS send
        WHERE endpoint_id = ${EndpointId.toUuid(endpoint)}
          AND EXISTS (SELECT FROM webhooks_endpoint WHERE id = send.endpoint_id AND NOT is_removed)
        ORDER BY at DESC, delivery_id DESC, claims DESC
        LIMIT ${limit}
      `).pipe(Effect.map((rows) => rows.map(Rows.toSend)), mapSql("WebhookStore.listSends"))
  } satisfies Partial<WebhookStore["Service"]>
})

const makeSending = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const { atomically } = yield* UnitOfWork

  const settle = (settlements: ReadonlyArray<Settlement>) =>
    idRows(Statements.settle(sql, settlements)).pipe(
      Effect.map((rows) => rows.map(({ id }) => DeliveryId.fromUuid(id)))
    )

  /**
   * What was claimed, each row read by itself, so that one that is damaged does not stop
   * the others. It is given back until `at`; what has lost its event can never be sent.
   */
  const readable = Effect.fnUntraced(function*(rows: ReadonlyArray<unknown>, at: DateTime.Utc) {
    const claimed: Array<Claimed> = []
    const damaged: Array<Claim> = []
    const lost: Array<Claim> = []
    for (const row of rows) {
      const { claims, eventId, id } = yield* decodeClaim(row)
      const claim = { delivery: DeliveryId.fromUuid(id), claims }
      const read = decodeClaimed(row)
      if (Result.isSuccess(read)) claimed.push(Rows.toClaimed(read.success))
      else (eventId === null ? lost : damaged).push(claim)
    }
    if (lost.length > 0) {
      yield* logOf("Events of webhooks are gone; their deliveries end as failed", lost)
      yield* settle(lost.map((claim) => ({ ...claim, next: { _tag: "Failed" }, send: null })))
    }
    if (damaged.length > 0) {
      yield* logOf("Webhooks cannot be read; they are tried again when their leases end", damaged)
      yield* Statements.release(sql, damaged, at)
    }
    return claimed
  })

  return {
    due: (now, limit, after) =>
      dueRows(Statements.due(sql, now, limit, after)).pipe(Effect.map(Rows.toDueList), mapSql("WebhookStore.due")),

    claim: (demands, now, until, bytesMax = Number.MAX_SAFE_INTEGER) =>
      Statements.claim(sql, demands, now, until, bytesMax).pipe(
        Effect.flatMap((rows) => readable(rows, until)),
        atomically,
        mapSql("WebhookStore.claim")
      ),

    freeze: (bodies) => Statements.freeze(sql, bodies).pipe(Effect.asVoid, mapSql("WebhookStore.freeze")),

    settle: (settlements) => settle(settlements).pipe(mapSql("WebhookStore.settle")),

    release: (claims, at) => Statements.release(sql, claims, at).pipe(Effect.asVoid, mapSql("WebhookStore.release")),

    expire: (before, now, limit) =>
      sql`
        UPDATE webhooks_delivery
        SET status = 'failed', due_at = NULL, is_claimed = false, body = NULL
        WHERE id = ANY(ARRAY(
          SELECT id
          FROM webhooks_delivery
          WHERE status = 'pending'
            AND begun_at < ${DateTime.toDate(before)}
            AND NOT (is_claimed AND due_at > ${DateTime.toDate(now)})
          ORDER BY begun_at
          LIMIT ${limit}
          FOR UPDATE SKIP LOCKED
        ))
        RETURNING 1
      `.pipe(Effect.map((rows) => rows.length), mapSql("WebhookStore.expire")),

    sweep: (before, limit) => Sweeping.sweep(sql, before, limit).pipe(atomically, mapSql("WebhookStore.sweep")),

    trimSends: (kept, limit) =>
      Sweeping.trimSends(sql, kept, limit).pipe(Effect.map((rows) => rows.length), mapSql("WebhookStore.trimSends"))
  } satisfies Partial<WebhookStore["Service"]>
})

/** A store in a database with the schema of `migrations`; runs no DDL of its own. */
export const layer: Layer.Layer<WebhookStore, never, SqlClient.SqlClient | UnitOfWork> = Layer.effect(
  WebhookStore,
  Effect.gen(function*() {
    return WebhookStore.of({ ...(yield* makeEndpoints), ...(yield* makeDeliveries), ...(yield* makeSending) })
  })
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const countRows = Rows.decodeRows(Rows.CountRow)
const endpointRows = Rows.decodeRows(Rows.EndpointRow)
const recordRows = Rows.decodeRows(Rows.RecordRow)
const ownerRows = Rows.decodeRows(Rows.OwnerRow)
const deliveryRows = Rows.decodeRows(Rows.DeliveryRow)
const sendRows = Rows.decodeRows(Rows.SendRow)
const dueRows = Rows.decodeRows(Rows.DueRow)
const idRows = Rows.decodeRows(Rows.IdRow)
const decodeClaim = Schema.decodeUnknownEffect(Rows.ClaimRow)
const decodeClaimed = Schema.decodeUnknownResult(Rows.ClaimedRow)

const logOf = (message: string, claims: ReadonlyArray<Claim>) =>
  Effect.annotateLogs(Effect.logError(message), { deliveries: claims.map(({ delivery }) => delivery) })

/** Texts that begin with a prefix sort before the prefix with this behind it. */
const lastCharacter = "\u{10FFFF}"

/** After every id. */
const lastUuid = "ffffffff-ffff-ffff-ffff-ffffffffffff"
