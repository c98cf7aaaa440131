/** Hosts that run in this process: their settings, and requests of an operator and of a customer. */
import { Settings } from "@kinora/hosting"
import * as TestDatabase from "@kinora/testkit/TestDatabase"
import { Deferred, Effect, Layer, Option, Redacted, Schema, type Scope } from "effect"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as ServerHost from "../src/ServerHost.ts"

const adminToken = "the-token-of-the-operators-of-this-service"

/** Returns settings with a new data directory that allow webhooks to 127.0.0.1. An empty `databaseUrl` selects the embedded database. */
export const make = Effect.fnUntraced(function*(databaseUrl: string) {
  const directory = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "kinora-server-"))),
    (directory) => Effect.promise(() => rm(directory, { recursive: true, force: true }))
  )
  if (databaseUrl === "") yield* TestDatabase.unpackPglite(join(directory, "database"))
  return {
    KINORA_ADMIN_TOKEN: adminToken,
    KINORA_DATA_DIR: directory,
    KINORA_DATABASE_URL: databaseUrl,
    KINORA_DEMO_ACCOUNT: "true",
    KINORA_PORT: "0",
    KINORA_WEBHOOK_ALLOW_PRIVATE: "true"
  }
})

/** Starts a server with its demo account. Stops it when the scope closes. */
export const startServer = Effect.fnUntraced(function*(
  environment: Readonly<Record<string, string>>,
  scope: Scope.Scope
) {
  const settings = yield* Settings.load(environment)
  const ready = yield* Deferred.make<ServerHost.Ready>()
  yield* Layer.buildWithScope(
    ServerHost.layer(settings, (state) => Effect.asVoid(Deferred.succeed(ready, state))),
    scope
  )
  const { apiKey, baseUrl } = yield* Deferred.await(ready)
  return { baseUrl, key: Redacted.value(Option.getOrThrow(apiKey)) }
})

type Server = Effect.Success<ReturnType<typeof startServer>>

/** Registers an endpoint of the demo account. */
export const register = Effect.fnUntraced(function*(server: Server, url: string) {
  const { user } = yield* send(server, server.key, "/v1/account", Account)
  const endpoints = `/admin/v1/accounts/${user.id}/webhook-endpoints`
  const { id, secret } = yield* send(server, adminToken, endpoints, Endpoint, { url })
  return { secret, path: `${endpoints}/${id}` }
})

/** Requests a test event. */
export const test = (server: Server, { path }: { readonly path: string }) =>
  Effect.asVoid(send(server, adminToken, `${path}/test`, Schema.Unknown, {}))

/** Returns the outcomes of the sends to an endpoint, newest first. */
export const reasons = (server: Server, { path }: { readonly path: string }) =>
  Effect.map(send(server, adminToken, `${path}/sends`, Sends), ({ data }) => data.map(({ reason }) => reason))

/** Creates a job. */
export const createJob = (server: Server) =>
  send(server, server.key, "/v1/generations", Schema.Struct({ id: Schema.String }), {
    plan: "studio",
    model: "kinora-draft",
    params: { prompt: "a lake" }
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const Account = Schema.Struct({ user: Schema.Struct({ id: Schema.String }) })
const Endpoint = Schema.Struct({ id: Schema.String, secret: Schema.String })
const Sends = Schema.Struct({ data: Schema.Array(Schema.Struct({ reason: Schema.String })) })

const send = <A>(
  { baseUrl }: Server,
  token: string,
  path: string,
  schema: Schema.ConstraintDecoder<A>,
  body?: Schema.Json
) =>
  Effect.promise(async (signal) => {
    const headers = { "authorization": `Bearer ${token}`, "content-type": "application/json" }
    const init: RequestInit = body === undefined
      ? { headers }
      : { headers, method: "POST", body: JSON.stringify(body) }
    const response = await fetch(new URL(path, baseUrl), { ...init, signal })
    const text = await response.text()
    if (!response.ok) throw new Error(`${response.status} ${text}`)
    return JSON.parse(text) as unknown
  }).pipe(Effect.flatMap(Schema.decodeUnknownEffect(schema)))
