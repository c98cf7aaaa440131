import { assert, describe, layer } from "@effect/vitest"
import { Readiness } from "@kinora/http-server"
import { BlobStore, UrlSigner } from "@kinora/storage"
import { Effect, Layer, Option, Redacted, Schema } from "effect"
import { HttpServer } from "effect/http"
import { Agent, request } from "node:http"
import * as Drivers from "../src/Drivers.ts"
import * as Http from "../src/Http.ts"
import * as Notifications from "../src/Notifications.ts"
import * as OperatorListener from "../src/OperatorListener.ts"
import * as Services from "../src/Services.ts"
import * as Stores from "../src/Stores.ts"
import * as Webhook from "../src/Webhook.ts"

const token = "an operator's token of at least 32 characters"

const services = Services.layer({}).pipe(
  Layer.provideMerge(Layer.mergeAll(
    Stores.layerMemory,
    BlobStore.layerMemory,
    Notifications.layerLocal,
    Drivers.layer(),
    Webhook.layerProtection({ keys: [Redacted.make("at least 32 bytes that seal what the service keeps")] }),
    Readiness.layerAlways,
    UrlSigner.layer({ keys: [Redacted.make("at least 32 bytes that only the service has")] })
  ))
)

const server = (operator: OperatorListener.OperatorListener) =>
  Http.layer({
    host: "127.0.0.1",
    port: 0,
    interface: { adminToken: Redacted.make(token) },
    operator,
    grace: 0
  })

const worker = Http.layerWorker(Layer.empty, { operator: { host: "127.0.0.1", port: 0 } })

/** Returns other spellings of a path, as request targets. */
const otherSpellings = (path: string): ReadonlyArray<string> => {
  const [, first = "", ...rest] = path.split("/")
  const below = rest.map((segment) => `/${segment}`).join("")
  const encoded = (letter: string) => `%${letter.charCodeAt(0).toString(16)}`
  return [
    path.toUpperCase(),
    `/${first[0]?.toUpperCase()}${first.slice(1)}${below}`,
    `${path.slice(0, -1)}${path.slice(-1).toUpperCase()}`,
    `${path}/`,
    `${path}//`,
    `/${path}`,
    `//${path}`,
    `/${first}/${below === "" ? "/" : below}`,
    `${path};x`,
    `${path};`,
    `${path};a=b?c=d`,
    `/${first};x${below}`,
    `/;${path}`,
    `${path}%3bx`,
    `${path}#x`,
    `${path}%23`,
    `${path}%3f`,
    `${path}%2f`,
    `${path}%2F`,
    `/%2f${first}${below}`,
    `/%2f..${path}`,
    `${path}%2e`,
    `${path}%00`,
    `${path}%20`,
    `${path}%0a`,
    `${path}%`,
    `/${encoded(first[0] ?? "")}${first.slice(1)}${below}`,
    `/${first.slice(0, 3)}${encoded(first[3] ?? "")}${first.slice(4)}${below}`,
    `${path.slice(0, -1)}${encoded(path.slice(-1))}`,
    `${path.slice(0, -1)}${encoded(encoded(path.slice(-1))[0] ?? "")}${encoded(path.slice(-1)).slice(1)}`,
    `/%25${encoded(first[0] ?? "").slice(1)}${first.slice(1)}${below}`,
    `/.${path}`,
    `/..${path}`,
    `/./${first}${below}`,
    `/v1/..${path}`,
    `/v1/models/../..${path}`,
    `/v1/generations/..%2f..${path}`,
    `/v1/%2e%2e${path}`,
    `/%2e${path}`,
    `/%2e%2e${path}`,
    `/${first}/.${below}`,
    `/${first}/x/..${below}`,
    `/${first}/x/%2e%2e${below}`,
    `${path}/.`,
    `${path}/..`,
    `${path}/x/..`,
    `${path}/%2e`,
    `${path}.`,
    `${path}.json`,
    `${path}..;/`,
    `/..;${path}`,
    `/.;x${path}`,
    `/\\${first}${below}`,
    `${path}\\`,
    `/x\\..${path}`,
    `/%5c${first}${below}`,
    `${path}%5c`,
    `http://127.0.0.1${path}/`,
    `http://127.0.0.1:4748/${path}`,
    `HTTP://example.com${path.toUpperCase()}`,
    `https://example.com${path};x`,
    `//example.com${path}`,
    `${path}&x`,
    `${path}+`,
    `${path}*`,
    `/~${path}`
  ]
}

/** Returns targets that are not HTTP. */
const notHttp = (path: string) => [
  path.slice(1),
  `\\${path.slice(1)}`,
  `?${path}`,
  `@${path}`,
  `*${path}`,
  `http:${path}`,
  `ftp://example.com${path}`
]

const Envelope = Schema.fromJsonString(Schema.Struct({
  error: Schema.Struct({ code: Schema.String, message: Schema.String, plan: Schema.Null, details: Schema.Struct({}) })
}))

const Document = Schema.fromJsonString(Schema.Struct({ paths: Schema.Record(Schema.String, Schema.Unknown) }))

const agent = new Agent({ keepAlive: true })

/** Sends a request with the operator's token. Unlike `fetch`, it does not normalize the target. */
const send = (origin: string, path: string) =>
  Effect.callback<{ readonly status: number | undefined; readonly text: string }>((resume) => {
    const { hostname, port } = new URL(origin)
    const headers = { authorization: `Bearer ${token}` }
    request({ hostname, port, path, headers, agent }, (response) => {
      const parts: Array<Buffer> = []
      response.on("data", (part: Buffer) => parts.push(part))
      response.on(
        "end",
        () => resume(Effect.succeed({ status: response.statusCode, text: String(Buffer.concat(parts)) }))
      )
    }).on("error", (cause) => resume(Effect.die(cause))).end()
  })

/** Sends the target and checks status and envelope of the error. */
const isRefused = Effect.fnUntraced(function*(origin: string, target: string, expected: 400 | 404 = 404) {
  const { status, text } = yield* send(origin, target)
  assert.strictEqual(status, expected, `${target}: ${text}`)
  const { error } = yield* Schema.decodeUnknownEffect(Envelope)(text)
  assert.strictEqual(error.code, expected === 404 ? "not_found" : "invalid_request", target)
})

const probePaths = { "/metrics": 200, "/readyz": 200, "/healthz": 200 }

const operatorPaths = {
  ...probePaths,
  "/admin/v1/openapi.json": 200,
  "/admin/v1/accounts/acct_unknown": 404
}

const clientPaths = { "/healthz": 200, "/openapi.json": 200, "/v1/models": 401 }

/** Checks the statuses of paths with any query, and that all other spellings are unknown paths. */
const expectExact = Effect.fnUntraced(function*(origin: string, paths: Readonly<Record<string, number>>) {
  for (const [path, expected] of Object.entries(paths)) {
    for (const query of ["", "?", "?x=/../metrics", "?a;b", "?%2f"]) {
      for (const target of [`${path}${query}`, `http://example.com${path}${query}`]) {
        assert.strictEqual((yield* send(origin, target)).status, expected, target)
      }
    }
    yield* expectNoSpelling(origin, path)
  }
})

const expectNoSpelling = Effect.fnUntraced(function*(origin: string, path: string) {
  assert.isAtLeast(new Set(otherSpellings(path)).size, 60)
  yield* Effect.forEach(otherSpellings(path), (target) => isRefused(origin, target), { concurrency: 8, discard: true })
  for (const target of notHttp(path)) yield* isRefused(origin, target, 400)
})

const clientOrigin = HttpServer.addressFormattedWith(Effect.succeed)
const operatorOrigin = Effect.map(OperatorListener.OperatorOrigin, Option.getOrThrow)

describe("paths", () => {
  layer(server("shared").pipe(Layer.provide(services)), { excludeTestServices: true })("of one listener", (it) => {
    it.effect("match exactly", () =>
      Effect.gen(function*() {
        assert.strictEqual(yield* operatorOrigin, yield* clientOrigin)
        yield* expectExact(yield* clientOrigin, { ...clientPaths, ...operatorPaths })
      }))
  })

  layer(server({ host: "127.0.0.1", port: 0 }).pipe(Layer.provide(services)), { excludeTestServices: true })(
    "of two listeners",
    (it) => {
      it.effect("match exactly on the listener for clients, which has none of operators", () =>
        Effect.gen(function*() {
          const origin = yield* clientOrigin
          const { "/healthz": _, ...others } = operatorPaths
          for (const path of Object.keys(others)) {
            yield* isRefused(origin, path)
            yield* expectNoSpelling(origin, path)
          }
          const { paths } = yield* Schema.decodeUnknownEffect(Document)((yield* send(origin, "/openapi.json")).text)
          assert.deepStrictEqual(Object.keys(paths).filter((path) => !path.startsWith("/v1/")), ["/healthz"])
        }))

      it.effect("match exactly on the listener for operators, which has none of clients", () =>
        Effect.gen(function*() {
          const origin = yield* operatorOrigin
          yield* expectExact(origin, operatorPaths)
          for (const path of ["/openapi.json", "/v1/models"]) yield* isRefused(origin, path)
          const { text } = yield* send(origin, "/docs/documents.json")
          assert.deepStrictEqual(
            text.match(/"url":"[^"]+"/g),
            ["\"url\":\"/admin/v1/openapi.json\"", "\"url\":\"/console/v1/openapi.json\""]
          )
        }))
    }
  )

  layer(server("off").pipe(Layer.provide(services)), { excludeTestServices: true })("without operators", (it) => {
    it.effect("do not include those of operators", () =>
      Effect.gen(function*() {
        assert.isTrue(Option.isNone(yield* OperatorListener.OperatorOrigin))
        const { "/healthz": _, ...others } = operatorPaths
        for (const path of Object.keys(others)) yield* isRefused(yield* clientOrigin, path)
      }))
  })

  layer(worker.pipe(Layer.provide(services)), { excludeTestServices: true })("of a worker", (it) => {
    it.effect("match exactly on the listener for operators, which has no operator API", () =>
      Effect.gen(function*() {
        const origin = yield* operatorOrigin
        yield* expectExact(origin, probePaths)
        const others = Object.keys(operatorPaths).filter((path) => !(path in probePaths))
        for (const path of [...others, "/admin/v1/accounts", "/openapi.json", "/v1/models"]) {
          yield* isRefused(origin, path)
          yield* expectNoSpelling(origin, path)
        }
      }))
  })
})
