/** Statements on endpoints and their secrets. */
import * as DatabaseTime from "@kinora/persistence/DatabaseTime"
import * as Rows from "@kinora/persistence/Rows"
import { mapSql } from "@kinora/persistence/StorageError"
import type { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { DateTime, Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { EndpointId, type SealedSecret } from "../../Endpoint.ts"
import type { EndpointRecord, WebhookStore } from "../../WebhookStore.ts"
import * as FailingEndpoints from "./failingEndpoints.ts"
import * as WebhookRows from "./rows.ts"

type Sql = SqlClient.SqlClient

/** The methods of the store that concern endpoints. */
export const methods = (sql: Sql, { atomically }: UnitOfWork["Service"]) => ({
  countEndpoints: (account) =>
    Effect.andThen(lockAccount(sql, account), Rows.decodeCount(selectCount(sql, account))).pipe(
      mapSql("WebhookStore.countEndpoints")
    ),
  insertEndpoint: (record) => Effect.asVoid(insert(sql, record)).pipe(mapSql("WebhookStore.insertEndpoint")),
  findEndpoints: (accounts) =>
    endpointRows(selectOfAccounts(sql, accounts)).pipe(
      Effect.map((rows) => rows.map(WebhookRows.toEndpoint)),
      mapSql("WebhookStore.findEndpoints")
    ),
  // Reads after the lock, so that it returns the secrets of that moment.
  loadEndpoint: (account, id) =>
    Effect.andThen(lock(sql, account, id), recordRows(selectRecord(sql, account, id))).pipe(
      Effect.map(([row]) => row && WebhookRows.toRecord(row)),
      atomically,
      mapSql("WebhookStore.loadEndpoint")
    ),
  saveEndpoint: (record) => Effect.asVoid(update(sql, record)).pipe(mapSql("WebhookStore.saveEndpoint")),
  saveSecrets: (record) => Effect.asVoid(replaceSecrets(sql, record)).pipe(mapSql("WebhookStore.saveSecrets")),
  removeEndpoint: (id) => Effect.asVoid(markRemoved(sql, id)).pipe(mapSql("WebhookStore.removeEndpoint")),
  lockFailing: (after, limit) =>
    // Reads after the lock, so that an endpoint that was changed meanwhile is not one of them.
    FailingEndpoints.lock(sql, after, limit).pipe(
      Effect.flatMap((locked) =>
        locked.length === 0 ? Effect.succeed([]) : FailingEndpoints.read(sql, after, locked.map(({ id }) => id))
      ),
      atomically,
      Effect.map((rows) => rows.map(({ id, ...row }) => ({ ...row, id: EndpointId.fromUuid(id) }))),
      mapSql("WebhookStore.lockFailing")
    ),
  findStaleSecrets: (prefix, now, limit) =>
    ownerRows(selectStale(sql, prefix, now, limit)).pipe(
      Effect.map((rows) => rows.map(({ account, id }) => ({ account, id: EndpointId.fromUuid(id) }))),
      mapSql("WebhookStore.findStaleSecrets")
    )
} satisfies Partial<WebhookStore["Service"]>)

/** Selects the secrets of the table `endpoint` that satisfy a condition, newest first. */
export const selectSecrets = (
  sql: Sql,
  clock: DatabaseTime.HostClock,
  condition: Statement.Fragment
): Statement.Fragment =>
  sql`
    (
      SELECT coalesce(
        json_agg(
          json_build_object(
            'sealed', secret.sealed, 'createdAt', secret.created_at, 'expiresAt', ${
    clock.toHost(sql`secret.expires_at`)
  }
          ) ORDER BY secret.place
        ),
        '[]'
      )
      FROM webhooks_secret AS secret
      WHERE secret.endpoint_id = endpoint.id AND (${condition})
    ) AS secrets
  `

/**
 * Locks the name of an account, because an account without endpoints has no row to lock. Accounts
 * whose names have the same hash wait for each other.
 */
export const lockAccount = (sql: Sql, account: string) =>
  sql`SELECT true FROM pg_advisory_xact_lock(hashtextextended('webhooks_endpoint:' || ${account}::text, 0))`

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const endpointRows = Rows.decodeAll(WebhookRows.EndpointRow)
const recordRows = Rows.decodeAll(WebhookRows.RecordRow)
const ownerRows = Rows.decodeAll(WebhookRows.OwnerRow)

const columns = (sql: Sql) => sql.literal(WebhookRows.endpointColumns)

const selectCount = (sql: Sql, account: string) =>
  sql`SELECT count(*)::int4 AS count FROM webhooks_endpoint WHERE account = ${account} AND NOT is_removed`

const insert = (sql: Sql, { endpoint, secrets }: EndpointRecord) =>
  Effect.flatMap(DatabaseTime.hostClock, (clock) =>
    sql`
    WITH added AS (
      INSERT INTO webhooks_endpoint (
        id, account, url, types, status, created_at, secret_created_at, is_removed
      )
      VALUES (
        ${EndpointId.toUuid(endpoint.id)}, ${endpoint.account}, ${endpoint.url}, ${typesOf(sql, endpoint.types)},
        ${endpoint.status}, ${DateTime.toDate(endpoint.createdAt)}, ${DateTime.toDate(endpoint.secretCreatedAt)},
        false
      )
    )
    ${putSecrets(sql, clock, endpoint.id, secrets)}
  `)

const selectOfAccounts = (sql: Sql, accounts: ReadonlyArray<string>) =>
  sql`
    SELECT ${columns(sql)}
    FROM webhooks_endpoint AS endpoint
    WHERE account = ANY(${Rows.array("text", accounts)}) AND NOT is_removed
    ORDER BY created_at, id
  `

const lock = (sql: Sql, account: string, id: EndpointId) =>
  sql`
    SELECT 1
    FROM webhooks_endpoint
    WHERE id = ${EndpointId.toUuid(id)} AND account = ${account} AND NOT is_removed
    FOR UPDATE
  `

const selectRecord = (sql: Sql, account: string, id: EndpointId) =>
  Effect.flatMap(DatabaseTime.hostClock, (clock) =>
    sql`
    SELECT ${columns(sql)}, ${selectSecrets(sql, clock, sql`true`)}
    FROM webhooks_endpoint AS endpoint
    WHERE id = ${EndpointId.toUuid(id)} AND account = ${account} AND NOT is_removed
  `)

const update = (sql: Sql, { endpoint, secrets }: EndpointRecord) =>
  Effect.flatMap(DatabaseTime.hostClock, (clock) =>
    sql`
    WITH saved AS (
      UPDATE webhooks_endpoint
      SET url = ${endpoint.url},
        types = ${typesOf(sql, endpoint.types)},
        status = ${endpoint.status},
        secret_created_at = ${DateTime.toDate(endpoint.secretCreatedAt)}
      WHERE id = ${EndpointId.toUuid(endpoint.id)}
    ), deleted AS (
      ${deleteSecrets(sql, endpoint.id, secrets.length)}
    ), forgotten AS (
      DELETE FROM webhooks_failing WHERE endpoint_id = ${EndpointId.toUuid(endpoint.id)}
    )
    ${putSecrets(sql, clock, endpoint.id, secrets)}
  `)

const replaceSecrets = (sql: Sql, { endpoint, secrets }: EndpointRecord) =>
  Effect.flatMap(DatabaseTime.hostClock, (clock) =>
    sql`
    WITH deleted AS (${deleteSecrets(sql, endpoint.id, secrets.length)})
    ${putSecrets(sql, clock, endpoint.id, secrets)}
  `)

const deleteSecrets = (sql: Sql, endpoint: EndpointId, from: number) =>
  sql`DELETE FROM webhooks_secret WHERE endpoint_id = ${EndpointId.toUuid(endpoint)} AND place >= ${from}`

const markRemoved = (sql: Sql, id: EndpointId) =>
  sql`
    WITH deleted AS (DELETE FROM webhooks_secret WHERE endpoint_id = ${EndpointId.toUuid(id)}),
      forgotten AS (DELETE FROM webhooks_failing WHERE endpoint_id = ${EndpointId.toUuid(id)})
    UPDATE webhooks_endpoint SET is_removed = true WHERE id = ${EndpointId.toUuid(id)}
  `

const selectStale = (sql: Sql, prefix: string, now: DateTime.Utc, limit: number) =>
  Effect.flatMap(DatabaseTime.hostClock, (clock) =>
    sql`
    SELECT DISTINCT endpoint.id, endpoint.account
    FROM webhooks_secret AS secret
    JOIN webhooks_endpoint AS endpoint ON endpoint.id = secret.endpoint_id
    WHERE secret.sealed < ${prefix}
      OR secret.sealed > ${prefix + lastCharacter}
      OR secret.expires_at <= ${clock.toDatabase(now)}
    ORDER BY endpoint.id
    LIMIT ${limit}
  `)

/** Inserts or replaces all secrets of an endpoint. */
const putSecrets = (
  sql: Sql,
  clock: DatabaseTime.HostClock,
  endpoint: EndpointId,
  secrets: ReadonlyArray<SealedSecret>
) =>
  sql`
    INSERT INTO webhooks_secret (endpoint_id, place, sealed, created_at, expires_at)
    SELECT endpoint_id, place, sealed, created_at, ${clock.now} + expires_in * interval '1 millisecond'
    FROM ${
    Rows.table("added_secret", secrets.map((secret, place) => ({ ...secret, place })), {
      endpoint_id: ["uuid", () => EndpointId.toUuid(endpoint)],
      ...Rows.fields({ place: "int4", sealed: "text" }),
      created_at: ["timestamptz", ({ createdAt }) => createdAt],
      expires_in: ["float8?", ({ expiresAt }) => expiresAt === null ? null : clock.millisUntil(expiresAt)]
    })
  }
    ON CONFLICT (endpoint_id, place) DO UPDATE
    SET sealed = excluded.sealed, created_at = excluded.created_at, expires_at = excluded.expires_at
  `

const typesOf = (sql: Sql, types: ReadonlyArray<string> | null): Statement.Fragment =>
  types === null ? sql`NULL` : Rows.array("text", types)

/** The last character in the order of the database. Texts with a prefix sort between the prefix and the prefix with it appended. */
const lastCharacter = "\u{10FFFF}"
