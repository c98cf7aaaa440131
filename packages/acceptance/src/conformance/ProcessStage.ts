/** The stage as a server of its own on a database, asked over a socket. Its time is everybody's. */
import { PgClient } from "@effect/sql-pg"
import { TestDatabase } from "@kinora/testkit"
import { Clock, Context, Effect, Exit, Layer, Redacted, Scope } from "effect"
import * as Documented from "../Documented.ts"
import * as Program from "../Program.ts"
import * as Receivers from "../Receivers.ts"
import * as Site from "../Site.ts"
import * as Stage from "./Stage.ts"
import { models } from "./StageModels.ts"

/** What a second server is told that the first is not. */
export interface OtherSettings {
  /** The status of a model. */
  readonly statuses?: Readonly<Record<string, "paused" | "withdrawn">>
  /** Default: that of the first. */
  readonly signingKeys?: string
  /**
   * Whether webhooks go to public addresses only, as in production, and not to
   * `ownDomain`. The first sends them to this machine.
   */
  readonly isGuarded?: boolean
}

/** A server on a Postgres in which a test interferes, so that it is the test's alone. */
export interface FaultyStage extends Stage.Stage {
  /** Runs a statement; answers with its rows. */
  readonly sql: (statement: string) => Promise<ReadonlyArray<unknown>>
  /** Starts a second server that shares database and files with this one, and is told something else as well. */
  readonly another: (settings?: OtherSettings) => Promise<Stage.Stage>
  /** Stops the server; answers with all that it logged. */
  readonly stop: () => Promise<string>
}

/** A domain of a service that is guarded. */
export const ownDomain = "media.example.com"

/** A stage that is stopped when it is disposed of. */
export const start = (host: Exclude<Stage.Host, "memory">): Promise<Stage.Stage & AsyncDisposable> =>
  opened(Effect.map(startServer(host), ({ receivers, server }) => stageOf(host, server, receivers)))

/** The same on a Postgres of its own, with ways to disturb it. */
export const startFaulty = (): Promise<FaultyStage & AsyncDisposable> =>
  opened(Effect.gen(function*() {
    const { databaseUrl, environment, receivers, server } = yield* startServer("Postgres")
    const scope = yield* Effect.scope
    const database = yield* Layer.build(PgClient.layer({ url: Redacted.make(databaseUrl), maxConnections: 1 }))
    const sql = Context.get(database, PgClient.PgClient)
    return {
      ...stageOf("Postgres", server, receivers),
      sql: (statement: string) => Effect.runPromise(sql.unsafe(statement)),
      another: (settings: OtherSettings = {}) =>
        Effect.runPromise(
          Effect.map(
            Scope.provide(startAnother(databaseUrl, environment, settings), scope),
            (server) => stageOf("Postgres", server, receivers)
          )
        ),
      stop: () => Effect.runPromise(Effect.map(server.stop, ({ stderr, stdout }) => stdout + stderr))
    }
  }))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const clock = Clock.Clock.defaultValue()

/** Builds a stage in a scope that closes when the stage is disposed of, and when it cannot be built. */
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

const startServer = Effect.fnUntraced(function*(host: Exclude<Stage.Host, "memory">) {
  const databaseUrl = host === "Postgres" ? yield* TestDatabase.postgresUrl : ""
  const site = yield* Site.make({ databaseUrl, models })
  const receivers = yield* Receivers.make()
  const environment = {
    ...site.environment,
    ...receivers.environment,
    KINORA_ADMIN_TOKEN: Stage.adminToken,
    KINORA_TRUSTED_PROXIES: Stage.trustedProxies,
    // Jobs that take for ever hold a worker each.
    KINORA_WORKERS: "256"
  }
  return { databaseUrl, environment, receivers, server: yield* Program.startServer(environment) }
})

const startAnother = Effect.fnUntraced(function*(
  databaseUrl: string,
  environment: Readonly<Record<string, string>>,
  { isGuarded = false, signingKeys, statuses = {} }: OtherSettings
) {
  const other = yield* Site.make({
    databaseUrl,
    models: models.map((model) => ({ ...model, status: statuses[model.id] ?? model.status ?? "available" }))
  })
  return yield* Program.startServer({
    ...environment,
    KINORA_CONFIG: other.environment["KINORA_CONFIG"] ?? "",
    ...(signingKeys !== undefined && { KINORA_URL_SIGNING_KEYS: signingKeys }),
    ...(isGuarded && { KINORA_WEBHOOK_ALLOW_PRIVATE: "false", KINORA_WEBHOOK_OWN_DOMAINS: ownDomain })
  })
})

const stageOf = (
  host: Stage.Host,
  { baseUrl }: Program.Server,
  receivers: Receivers.Receivers
): Stage.Stage => {
  const address = Stage.makeAddresses()
  const send: Stage.Fetch = Documented.checking((path, init = {}) => {
    const headers = new Headers(init.headers)
    // Each request fails from an address of its own, so that tests do not use up each other's failures.
    if (!headers.has("x-forwarded-for")) headers.set("x-forwarded-for", address())
    return fetch(new URL(path, baseUrl), { ...init, headers })
  })
  const admin = Stage.withToken(send, Stage.adminToken)
  const now = () => new Date(clock.currentTimeMillisUnsafe())
  return {
    host,
    baseUrl,
    fetch: send,
    admin,
    openAccount: Stage.makeOpenAccount({ admin, fetch: send, now }),
    overSocket: () => Promise.resolve(send),
    receive: receivers.start,
    now,
    elapse: () => Promise.resolve()
  }
}
