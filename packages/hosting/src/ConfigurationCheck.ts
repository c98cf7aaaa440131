/**
 * Compares the models, prices, plans and moderations of the processes of a database, and warns if they
 * differ. A client would be charged, limited or refused differently by each of them.
 *
 * Each process records digests of its configuration while it runs. Secrets are not part of them. Drivers and their
 * options are not compared, because workers may reach their generators in different ways,
 * and descriptions are not, because clients do not see them.
 */
import { PlanTable } from "@kinora/accounts"
import { Catalog, Model } from "@kinora/catalog"
import { Fingerprint } from "@kinora/idempotency"
import { Migrations } from "@kinora/persistence"
import * as Rows from "@kinora/persistence/Rows"
import { DateTime, type Duration, Effect, Layer, Random, Schema } from "effect"
import type { Digest } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { CurrentRules } from "./Moderation.ts"
import { CurrentPlanTable } from "./Services.ts"

/** Options for `ConfigurationCheck.layer`. */
export interface ConfigurationCheckOptions {
  /** Name of the process in warnings. */
  readonly name: string
  /** Workers may have fewer models than servers. */
  readonly role: "server" | "worker"
  /** Time between two comparisons. Default 1 minute. */
  readonly interval?: Duration.Input | undefined
  /** Time after which a process that does not renew its configuration is no longer compared. Default 3 minutes. */
  readonly ttl?: Duration.Input | undefined
}

/** The configuration of a process. */
export interface Configuration {
  readonly name: string
  readonly role: "server" | "worker"
  /** Digests by path: `plans`, `moderation`, `models.<id>` and `models.<id>.<field>`. */
  readonly digests: Readonly<Record<string, string>>
}

/** The table of this package. */
export const migrations: Migrations.Migrations = {
  namespace: "host",
  migrations: {
    "0001_configuration": Migrations.statements((sql) => [
      sql`
        CREATE TABLE host_configuration (
          id text PRIMARY KEY,
          name text NOT NULL,
          role text NOT NULL CHECK (role IN ('server', 'worker')),
          digests jsonb NOT NULL,
          until timestamptz NOT NULL
        )
      `
    ])
  }
}

/**
 * Returns the paths in which two configurations differ, sorted. A model that only one of
 * them has is a difference between two servers only.
 */
export const differences = (one: Configuration, other: Configuration): ReadonlyArray<string> => {
  const areServers = one.role === "server" && other.role === "server"
  const missing = (path: string) => !(path in one.digests) || !(path in other.digests)
  const isModel = (path: string) => one.digests[path] === present || other.digests[path] === present
  return Array.from(new Set([...Object.keys(one.digests), ...Object.keys(other.digests)]))
    .filter((path) => missing(path) ? areServers && isModel(path) : one.digests[path] !== other.digests[path])
    .toSorted()
}

/** Compares the configuration at the start and at the interval, and warns when the differences change. */
export const layer = (
  { interval = "1 minute", ttl = "3 minutes", ...options }: ConfigurationCheckOptions
): Layer.Layer<never, never, Catalog.Catalog | CurrentPlanTable | Digest.Digest | SqlClient.SqlClient> =>
  Layer.effectDiscard(Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const id = String(yield* Random.nextInt)
    const own: Configuration = { ...options, digests: yield* digestsOfHost }
    let logged = ""

    const check = Effect.gen(function*() {
      const others = yield* exchange(sql, { ...own, id, ttl })
      const found = others.flatMap((other) => {
        const paths = differences(own, other)
        return paths.length === 0 ? [] : [{ host: other.name, differences: paths }]
      })
      if (JSON.stringify(found) === logged) return
      logged = JSON.stringify(found)
      yield* Effect.forEach(
        found,
        (found) => Effect.logWarning("Another process of this database has a different configuration", found),
        { discard: true }
      )
    }).pipe(Effect.catchCause((cause) => Effect.logWarning("Comparing the configuration failed", cause)))

    yield* Effect.addFinalizer(() => Effect.ignore(sql`DELETE FROM host_configuration WHERE id = ${id}`))
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(check, Effect.sleep(interval))))
  }))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Value at the path of a model, whose fields have their own digests. */
const present = "present"

const encodeModel = Schema.encodeSync(Schema.toCodecJson(Model.Model))

const encodePlans = Schema.encodeSync(Schema.toCodecJson(PlanTable.PlanTable))

const digestsOfHost = Effect.gen(function*() {
  const catalog = yield* Catalog.Catalog
  const digests: Record<string, string> = {
    plans: yield* Fingerprint.make(encodePlans(yield* CurrentPlanTable)),
    moderation: yield* Fingerprint.make(yield* CurrentRules)
  }
  for (const model of catalog.list) {
    const path = `models.${model.id}`
    digests[path] = present
    for (const [field, value] of Object.entries(Schema.decodeUnknownSync(Fields)(encodeModel(model)))) {
      if (field !== "driver" && field !== "description") digests[`${path}.${field}`] = yield* Fingerprint.make(value)
    }
  }
  return digests
})

const Fields = Schema.Record(Schema.String, Schema.Json)

/** A configuration to record, and how long it is valid. */
interface Recorded extends Configuration {
  readonly id: string
  readonly ttl: Duration.Input
}

/** Records the configuration of this process, deletes expired ones, and returns those of the other processes. */
const exchange = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, { digests, id, name, role, ttl }: Recorded) {
  const now = yield* DateTime.now
  const until = DateTime.toDate(DateTime.addDuration(now, ttl))
  yield* sql`
    INSERT INTO host_configuration (id, name, role, digests, until)
    VALUES (${id}, ${name}, ${role}, ${JSON.stringify(digests)}::text::jsonb, ${until})
    ON CONFLICT (id) DO UPDATE SET until = excluded.until
  `
  // Skips locked rows, so that processes do not wait for each other.
  yield* sql`
    DELETE FROM host_configuration WHERE id IN (
      SELECT id FROM host_configuration WHERE until <= ${DateTime.toDate(now)} AND id <> ${id} FOR UPDATE SKIP LOCKED
    )
  `
  return yield* decodeConfigurations(sql`
    SELECT name, role, digests FROM host_configuration
    WHERE id <> ${id} AND until > ${DateTime.toDate(now)}
    ORDER BY name, id
  `)
})

const decodeConfigurations = Rows.decodeAll(Schema.Struct({
  name: Schema.String,
  role: Schema.Literals(["server", "worker"]),
  digests: Schema.Record(Schema.String, Schema.String)
}))
