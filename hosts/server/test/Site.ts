/** A place where hosts run in this process: a directory, a database, and an operator's and a customer's requests. */
import { Settings } from "@kinora/hosting"
import { Deferred, Effect, Layer, Option, Redacted, Schema, type Scope } from "effect"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as ServerHost from "../src/ServerHost.ts"

const adminToken = "the-token-of-the-operators-of-this-service"

/** Settings for hosts of a new site: webhooks may go to 127.0.0.1. An empty `databaseUrl` is an embedded database. */
export const make = Effect.fnUntraced(function*(databaseUrl: string) {
  const directory = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "kinora-server-"))),
    (directory) => Effect.promise(() => rm(directory, { recursive: true, force: true }))
  )
  return {
    KINORA_ADMIN_TOKEN: adminToken,
    KINORA_DATA_DIR: directory,
    KINORA_DATABASE_URL: databaseUrl,
    KINORA_PORT: "0",
    KINORA_WEBHOOK_ALLOW_PRIVATE: "true"
  }
})

/** A server with its demo account, until the scope closes. */
export const startServer = Effect.fnUntraced(function*(
  environment: Readonly<Record<string, string>>,
  scope: Scope.Scope
) {
  const settings = yield* Settings.load(environment)
  const ready = yield* Deferred.make<ServerHost.Ready>()
  yield* Layer.buildWithScope(
    ServerHost.layer(settings, (said) => Effect.asVoid(Deferred.succeed(ready, said))),
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

/** Has a test event sent. */
export const test = (server: Server, { path }: { readonly path: string }) =>
  Effect.asVoid(send(server, adminToken, `${path}/test`, Schema.Unknown, {}))

/** What became of the sends to an endpoint, newest first. */
export const reasons = (server: Server, { path }: { readonly path: string }) =>
  Effect.map(send(server, adminToken, `${path}/sends`, Sends), ({ data }) => data.map(({ reason }) => reason))

/** Asks for a picture. */
export const createJob = (server: Server) =>
  send(server, server.key, "/v1/generations", Schema.Struct({ id: Schema.String }), {
    plan: "studio",
    model: "kinora-sketch-1",
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
  answer: Schema.ConstraintDecoder<A>,
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
  }).pipe(Effect.flatMap(Schema.decodeUnknownEffect(answer)))
