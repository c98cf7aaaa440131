/** A `Stage` that is a server process on a database, requested over a socket. Its time is real. */
import { PgClient } from "@effect/sql-pg"
import { FreePort, TestDatabase } from "@kinora/testkit"
import { Clock, Context, Effect, Exit, Layer, Redacted, Scope } from "effect"
import * as OpenApiCheck from "../OpenApiCheck.ts"
import * as Program from "../Program.ts"
import * as RawHttp from "../RawHttp.ts"
import * as Receivers from "../Receivers.ts"
import * as Site from "../Site.ts"
import * as Stage from "./Stage.ts"
import { models, withdrawnLater } from "./StageModels.ts"

/** A Postgres in which a case can run statements. */
export interface Database {
  /** Runs a statement and returns its rows. */
  readonly sql: (statement: string) => Promise<ReadonlyArray<unknown>>
}

/** A server on Postgres, and what only cases on Postgres need. All of it is shared by all cases. */
export interface PostgresStage extends Stage.Stage, Database {
  /** Everything that the server has printed so far. */
  readonly printed: () => Promise<string>
  /** Starts a second server on the same database and files, on the first call. It has withdrawn `withdrawnLater`. */
  readonly second: () => Promise<Stage.Stage>
  /** Starts two servers as in production, on the first call. */
  readonly production: () => Promise<Production>
}

/**
 * Two servers that share a separate database. They send webhooks to public addresses only, and not to `ownDomain`. The
 * second signs URLs with a newer key, and accepts the key of the first as well.
 */
export interface Production extends Database {
  readonly first: Stage.Stage
  readonly second: Stage.Stage
  /** Everything that the first server has printed so far. */
  readonly printed: () => Promise<string>
}

/** The service's own domain in `Production`. */
export const ownDomain = "media.example.com"

/** Starts a server on PGlite, in a directory unpacked from this archive. Disposing of the stage stops it. */
export const startPglite = (pgliteDump: string): Promise<Stage.Stage & AsyncDisposable> =>
  opened(Effect.gen(function*() {
    const { receivers, server } = yield* startServer({ host: "PGlite", databaseUrl: "", pgliteDump })
    return stageOf("PGlite", server, receivers)
  }))

/** Starts a server on an empty Postgres. Disposing of the stage stops it and all that it started. */
export const startPostgres = (): Promise<PostgresStage & AsyncDisposable> =>
  opened(Effect.gen(function*() {
    const scope = yield* Effect.scope
    const databaseUrl = yield* TestDatabase.postgresUrl
    const { environment, receivers, server } = yield* startServer({ host: "Postgres", databaseUrl })
    const second = Effect.map(
      startSecond(databaseUrl, environment, server),
      (second) => stageOf("Postgres", second, receivers)
    )
    const stage: PostgresStage = {
      ...stageOf("Postgres", server, receivers),
      sql: yield* makeSql(databaseUrl),
      printed: printedBy(server),
      second: onceIn(scope, second),
      production: onceIn(scope, startProduction)
    }
    return stage
  }))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const clock = Clock.Clock.defaultValue()

/** Builds a stage in a scope that closes when the stage is disposed of or cannot be built. */
const opened = <A extends object, E>(
  stage: Effect.Effect<A, E, Scope.Scope>
): Promise<A & AsyncDisposable> =>
  Effect.runPromise(Effect.gen(function*() {
    const scope = yield* Scope.make()
    const built = yield* Effect.onError(
      Scope.provide(stage, scope),
      (cause) => Scope.close(scope, Exit.failCause(cause))
    )
    return { ...built, [Symbol.asyncDispose]: () => Effect.runPromise(Scope.close(scope, Exit.void)) }
  }))

/** Runs an effect once, on the first call, in the given scope. */
const onceIn = <A, E>(scope: Scope.Scope, effect: Effect.Effect<A, E, Scope.Scope>): () => Promise<A> => {
  let started: Promise<A> | undefined
  return () => started ??= Effect.runPromise(Scope.provide(effect, scope))
}

const makeSql = Effect.fnUntraced(function*(databaseUrl: string) {
  const client = yield* Layer.build(PgClient.layer({ url: Redacted.make(databaseUrl), maxConnections: 1 }))
  const sql = Context.get(client, PgClient.PgClient)
  return (statement: string) => Effect.runPromise(sql.unsafe(statement))
})

const printedBy = ({ printed }: Program.Program) => () =>
  Effect.runPromise(Effect.map(printed, ({ stderr, stdout }) => stdout + stderr))

interface ServerOptions {
  readonly host: Exclude<Stage.Host, "memory">
  readonly databaseUrl: string
  readonly pgliteDump?: string | undefined
  readonly settings?: Readonly<Record<string, string>>
}

const startServer = Effect.fnUntraced(function*({ databaseUrl, pgliteDump, settings }: ServerOptions) {
  const site = yield* Site.make({ databaseUrl, models, pgliteDump })
  const receivers = yield* Receivers.make()
  const environment: Readonly<Record<string, string>> = {
    ...site.environment,
    ...receivers.environment,
    KINORA_ADMIN_TOKEN: Stage.adminToken,
    KINORA_TRUSTED_PROXIES: Stage.trustedProxies,
    KINORA_CORS_ORIGINS: Stage.corsOrigin,
    // Each job of the models without an end occupies a worker.
    KINORA_WORKERS: "256",
    ...settings
  }
  return { environment, receivers, server: yield* Program.startServer(environment) }
})

const startSecond = Effect.fnUntraced(
  function*(databaseUrl: string, environment: Readonly<Record<string, string>>, first: Program.Server) {
    const other = yield* Site.make({
      databaseUrl,
      models: models.map((model) => model.id === withdrawnLater ? { ...model, status: "withdrawn" } : model)
    })
    return yield* startBeside(first, { ...environment, KINORA_CONFIG: other.environment["KINORA_CONFIG"] ?? "" })
  }
)

/** Starts another server behind the base URL of the first, as behind one load balancer. Returns it with its own address. */
const startBeside = Effect.fnUntraced(
  function*(first: Program.Server, environment: Readonly<Record<string, string>>) {
    const port = yield* Effect.promise(() => FreePort.find())
    const server = yield* Program.startServer({
      ...environment,
      KINORA_BASE_URL: first.baseUrl,
      KINORA_PORT: String(port)
    })
    return { ...server, baseUrl: `http://127.0.0.1:${port}` }
  }
)

const startProduction = Effect.gen(function*() {
  const databaseUrl = yield* TestDatabase.postgresUrl
  const { environment, receivers, server } = yield* startServer({
    host: "Postgres",
    databaseUrl,
    settings: {
      KINORA_WEBHOOK_ALLOW_PRIVATE: "false",
      KINORA_WEBHOOK_OWN_DOMAINS: ownDomain,
      // One case sends a slow request, which must also end on a loaded machine.
      KINORA_DATABASE_STATEMENT_SECONDS: "10",
      KINORA_DATABASE_UNIT_SECONDS: "60",
      KINORA_REQUEST_SECONDS: "60"
    }
  })
  const newerKey = "a-newer-key-a-newer-key-a-newer-key"
  const second = yield* startBeside(server, {
    ...environment,
    KINORA_URL_SIGNING_KEYS: `${newerKey},${environment["KINORA_URL_SIGNING_KEYS"]}`
  })
  const production: Production = {
    first: stageOf("Postgres", server, receivers),
    second: stageOf("Postgres", second, receivers),
    printed: printedBy(server),
    sql: yield* makeSql(databaseUrl)
  }
  return production
})

const stageOf = (
  host: Stage.Host,
  { baseUrl }: Program.Server,
  receivers: Receivers.Receivers
): Stage.Stage => {
  const client = RawHttp.overSocket(baseUrl, { check })
  const admin = client.withToken(Stage.adminToken)
  const now = () => new Date(clock.currentTimeMillisUnsafe())
  return {
    ...client,
    host,
    baseUrl,
    admin,
    openAccount: Stage.makeOpenAccount({ ...client, admin, now }),
    overSocket: () => Promise.resolve(client),
    receive: receivers.start,
    now,
    elapse: () => Promise.resolve()
  }
}

/** Compares a response with the documents, and logs one of 500 or above: the output of a case is shown if it fails. */
const check: typeof OpenApiCheck.check = async (request, response) => {
  if (response.status >= 500) await Effect.runPromise(Effect.logWarning(request.url, await response.clone().text()))
  await OpenApiCheck.check(request, response)
}
