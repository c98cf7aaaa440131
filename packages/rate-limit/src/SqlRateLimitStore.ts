/**
 * Counters and places in Postgres or PGlite, in the tables `rate_limit_minute`,
 * `rate_limit_day` and `rate_limit_place`.
 */
import type { Migrations } from "@kinora/persistence/Migrations"
import * as StorageError from "@kinora/persistence/StorageError"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import type * as Counter from "./Counter.ts"
import { migrations as record } from "./internal/migrations.ts"
import * as Lease from "./Lease.ts"
import { RateLimitStore } from "./RateLimitStore.ts"

/** The schema of this package. */
export const migrations: Migrations = record

const makeCounters = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const tables = { minute: sql("rate_limit_minute"), day: sql("rate_limit_day") }

  // `Counter.grant` in SQL, `used` being what is taken already. The row that is in
  // the way is the newest one, locked, whatever this statement's snapshot says:
  // that is what makes one statement exact.
  const granted = (used: string, demand: string) =>
    sql.literal(`
      CASE
        WHEN ${used} + ${demand}.cost > ${demand}.maximum THEN 0
        WHEN ${demand}.cost = 0 THEN ${demand}.takes
        ELSE LEAST(${demand}.takes, (${demand}.maximum - ${used}) / ${demand}.cost)
      END
    `)

  const take = (kind: Counter.PeriodKind) =>
    SqlSchema.findAll({
      Request: Demands,
      Result: GrantRow,
      execute: (demands) =>
        sql`
          INSERT INTO ${tables[kind]} AS counter (period, key, used, takes, cost, maximum, granted)
          SELECT period, key, granted * cost, takes, cost, maximum, granted
          FROM unnest(
            ${demands.periods}::int4[], ${demands.keys}::text[], ${demands.takes}::int4[],
            ${demands.costs}::int8[], ${demands.maximums}::int8[]
          ) WITH ORDINALITY AS demand (period, key, takes, cost, maximum, place),
          LATERAL (SELECT ${granted("0", "demand")} AS granted) AS first
          ORDER BY place
          ON CONFLICT (period, key) DO UPDATE
          SET used = counter.used + excluded.cost * ${granted("counter.used", "excluded")},
            takes = excluded.takes,
            cost = excluded.cost,
            maximum = excluded.maximum,
            granted = ${granted("counter.used", "excluded")}
          RETURNING period, key, used::float8, granted
        `
    })
  const takes = { minute: take("minute"), day: take("day") }

  const read = (kind: Counter.PeriodKind) =>
    SqlSchema.findAll({
      Request: Slots,
      Result: UsedRow,
      execute: ({ keys, periods }) =>
        sql`
          SELECT period, key, used::float8
          FROM ${tables[kind]}
          WHERE (period, key) IN (SELECT * FROM unnest(${periods}::int4[], ${keys}::text[]))
        `
    })
  const reads = { minute: read("minute"), day: read("day") }

  return {
    take: (kind, demands) =>
      takes[kind]({
        ...slotColumns(demands),
        takes: demands.map((demand) => demand.takes),
        costs: demands.map((demand) => BigInt(demand.cost)),
        maximums: demands.map((demand) => BigInt(demand.limit))
      }).pipe(StorageError.mapSql("RateLimitStore.take")),

    // `cost` carries the amount, since `used` of the row to insert cannot be negative.
    add: (kind, amounts) => {
      const { keys, periods } = slotColumns(amounts)
      return sql`
        INSERT INTO ${tables[kind]} AS counter (period, key, used, takes, cost, maximum, granted)
        SELECT period, key, GREATEST(amount, 0), 0, amount, 0, 0
        FROM unnest(
          ${periods}::int4[], ${keys}::text[], ${amounts.map(({ amount }) => BigInt(amount))}::int8[]
        ) WITH ORDINALITY AS added (period, key, amount, place)
        ORDER BY place
        ON CONFLICT (period, key) DO UPDATE
        SET used = GREATEST(counter.used + excluded.cost, 0)
      `.pipe(Effect.asVoid, StorageError.mapSql("RateLimitStore.add"))
    },

    read: (kind, slots) => reads[kind](slotColumns(slots)).pipe(StorageError.mapSql("RateLimitStore.read")),

    sweepCounters: (kind, period, limit) =>
      sql`
        DELETE FROM ${tables[kind]}
        WHERE (period, key) IN (
          SELECT period, key
          FROM ${tables[kind]}
          WHERE period < ${period}
          ORDER BY period, key
          LIMIT ${limit}
          FOR UPDATE SKIP LOCKED
        )
        RETURNING 1
      `.pipe(Effect.map((rows) => rows.length), StorageError.mapSql("RateLimitStore.sweepCounters"))
  } satisfies Partial<RateLimitStore["Service"]>
})

const makePlaces = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const { atomically } = yield* UnitOfWork

  // There may be no row to lock yet, so the key itself is locked. A collision of
  // hashes makes two keys wait for each other and nothing else.
  const lock = (keys: ReadonlyArray<string>) =>
    sql`
      SELECT pg_advisory_xact_lock(lock)
      FROM (
        SELECT DISTINCT hashtextextended('rate_limit_place:' || key, 0) AS lock
        FROM unnest(${keys}::text[]) AS key
        ORDER BY lock
      ) AS locks
    `

  const count = SqlSchema.findAll({
    Request: Schema.Struct({ keys: Schema.Array(Schema.String), at: Schema.DateTimeUtcFromDate }),
    Result: CountRow,
    execute: ({ at, keys }) =>
      sql`
        SELECT key, count(*)::int4 AS live
        FROM rate_limit_place
        WHERE key = ANY(${keys}::text[]) AND expires_at > ${at}
        GROUP BY key
      `
  })

  const put = (leases: ReadonlyArray<Lease.Lease>) =>
    sql`
      INSERT INTO rate_limit_place (id, key, expires_at)
      SELECT id, key, expires_at
      FROM unnest(
        ${leases.map((lease) => lease.id)}::uuid[], ${leases.map((lease) => lease.key)}::text[],
        ${leases.map((lease) => DateTime.toDate(lease.expiresAt))}::timestamptz[]
      ) AS lease (id, key, expires_at)
      ON CONFLICT (id) DO UPDATE SET expires_at = excluded.expires_at
    `

  return {
    acquire: Effect.fnUntraced(
      function*(wanted, at) {
        const keys = [...new Set(wanted.map((lease) => lease.key))]
        yield* lock(keys)
        const counts = yield* count({ keys, at })
        const granted = Lease.grant(wanted, new Map(counts.map(({ key, live }) => [key, live])))
        if (granted.length > 0) yield* put(granted)
        return granted
      },
      StorageError.mapSql("RateLimitStore.acquire"),
      atomically
    ),

    renew: (leases) => put(leases).pipe(Effect.asVoid, StorageError.mapSql("RateLimitStore.renew")),

    release: (ids) =>
      sql`DELETE FROM rate_limit_place WHERE id = ANY(${ids}::uuid[])`.pipe(
        Effect.asVoid,
        StorageError.mapSql("RateLimitStore.release")
      ),

    held: (key, at) =>
      count({ keys: [key], at }).pipe(
        Effect.map(([counted]) => counted?.live ?? 0),
        StorageError.mapSql("RateLimitStore.held")
      ),

    sweepLeases: (at, limit) =>
      sql`
        DELETE FROM rate_limit_place
        WHERE id IN (
          SELECT id
          FROM rate_limit_place
          WHERE expires_at <= ${DateTime.toDate(at)}
          ORDER BY expires_at
          LIMIT ${limit}
          FOR UPDATE SKIP LOCKED
        )
        RETURNING 1
      `.pipe(Effect.map((rows) => rows.length), StorageError.mapSql("RateLimitStore.sweepLeases"))
  } satisfies Partial<RateLimitStore["Service"]>
})

/** The store over the surrounding `SqlClient`. Run `migrations` first. */
export const layer: Layer.Layer<RateLimitStore, never, SqlClient.SqlClient | UnitOfWork> = Layer.effect(
  RateLimitStore,
  Effect.gen(function*() {
    return RateLimitStore.of({ ...(yield* makeCounters), ...(yield* makePlaces) })
  })
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const Slots = Schema.Struct({ periods: Schema.Array(Schema.Int), keys: Schema.Array(Schema.String) })

const Demands = Schema.Struct({
  ...Slots.fields,
  takes: Schema.Array(Schema.Int),
  costs: Schema.Array(Schema.BigInt),
  maximums: Schema.Array(Schema.BigInt)
})

const UsedRow = Schema.Struct({ period: Schema.Int, key: Schema.String, used: Schema.Int })

const GrantRow = Schema.Struct({ ...UsedRow.fields, granted: Schema.Int })

const CountRow = Schema.Struct({ key: Schema.String, live: Schema.Int })

const slotColumns = (slots: ReadonlyArray<Counter.Slot>): typeof Slots.Type => ({
  periods: slots.map((slot) => slot.period),
  keys: slots.map((slot) => slot.key)
})
