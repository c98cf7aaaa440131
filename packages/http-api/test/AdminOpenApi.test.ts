import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { document } from "../src/AdminOpenApiDocument.ts"
import * as Public from "../src/OpenApiDocument.ts"

const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  (["get", "post", "put", "patch", "delete"] as const).flatMap((method) => {
    const operation = item[method]
    return operation === undefined ? [] : [{ name: `${method} ${path}`, ...operation }]
  })
)

it.effect("admin-openapi.json is up to date", () =>
  Effect.sync(() => {
    const written = readFileSync(new URL("../admin-openapi.json", import.meta.url), "utf8")
    assert.strictEqual(
      written,
      `${JSON.stringify(document, null, 2)}\n`,
      "run: npm run openapi -w @kinora/http-api"
    )
  }))

it.effect("documents every operation for operators, and none for clients", () =>
  Effect.sync(() => {
    assert.deepStrictEqual(operations.map(({ name }) => name.replace("/admin/v1", "")), [
      "get /accounts",
      "post /accounts",
      "get /accounts/{id}",
      "patch /accounts/{id}",
      "delete /accounts/{id}",
      "post /accounts/{id}/suspend",
      "post /accounts/{id}/resume",
      "post /accounts/{id}/restore",
      "get /accounts/{id}/keys",
      "post /accounts/{id}/keys",
      "patch /accounts/{id}/keys/{key_id}",
      "delete /accounts/{id}/keys/{key_id}",
      "post /accounts/{id}/keys/{key_id}/roll",
      "get /accounts/{id}/members",
      "post /accounts/{id}/members",
      "patch /accounts/{id}/members/{member_id}",
      "delete /accounts/{id}/members/{member_id}",
      "post /accounts/{id}/members/{member_id}/sign-in-links",
      "put /accounts/{id}/plans/studio",
      "delete /accounts/{id}/plans/studio",
      "put /accounts/{id}/plans/credits",
      "delete /accounts/{id}/plans/credits",
      "put /accounts/{id}/plans/studio/subscription",
      "delete /accounts/{id}/plans/studio/subscription",
      "put /accounts/{id}/plans/credits/subscription",
      "delete /accounts/{id}/plans/credits/subscription",
      "post /accounts/{id}/deposits",
      "post /accounts/{id}/debits",
      "get /accounts/{id}/movements",
      "get /accounts/{id}/wallet/checkouts",
      "post /accounts/{id}/wallet/checkouts",
      "get /accounts/{id}/generations",
      "get /generations",
      "get /generations/{id}",
      "post /generations/{id}/cancel",
      "post /generations/{id}/fail",
      "post /generations/{id}/requeue",
      "get /workers",
      "post /workers/{id}/drain",
      "post /workers/{id}/resume",
      "get /queue",
      "get /queue/lanes",
      "get /models",
      "post /models/{id}/pause",
      "post /models/{id}/resume",
      "post /accounts/{id}/lots",
      "post /accounts/{id}/lots/{lot_id}/revoke",
      "get /accounts/{id}/balances",
      "get /accounts/{id}/transactions",
      "get /generations/{id}/ledger",
      "get /ledger/trial-balance",
      "post /ledger/verify",
      "get /accounts/{id}/webhook-endpoints",
      "post /accounts/{id}/webhook-endpoints",
      "get /accounts/{id}/webhook-endpoints/{endpoint_id}",
      "patch /accounts/{id}/webhook-endpoints/{endpoint_id}",
      "delete /accounts/{id}/webhook-endpoints/{endpoint_id}",
      "post /accounts/{id}/webhook-endpoints/{endpoint_id}/rotate",
      "post /accounts/{id}/webhook-endpoints/{endpoint_id}/test",
      "get /accounts/{id}/webhook-endpoints/{endpoint_id}/sends",
      "get /accounts/{id}/webhook-endpoints/{endpoint_id}/deliveries",
      "post /accounts/{id}/webhook-deliveries/{delivery_id}/resend",
      "get /accounts/{id}/webhook-endpoints/{endpoint_id}/deliveries/{delivery_id}",
      "post /accounts/{id}/webhook-endpoints/{endpoint_id}/resend-failed",
      "get /operators",
      "post /operators",
      "post /operators/{id}/rotate",
      "delete /operators/{id}",
      "get /audit",
      "post /accounts/{id}/sign-in-links",
      "post /operators/{id}/sign-in-links",
      "get /operators/{id}/sessions",
      "delete /operators/{id}/sessions",
      "delete /operators/{id}/sessions/{session_id}",
      "get /configuration",
      "get /storage"
    ])
    assert.isEmpty(Object.keys(Public.document.paths).filter((path) => path.startsWith("/admin/")))
  }))

it.effect("requires the token everywhere, and documents the limit of the address on 401 and 429", () =>
  Effect.sync(() => {
    for (const { name, responses, security } of operations) {
      assert.deepStrictEqual(security, [{ bearer: [] }], name)
      for (const status of [401, 429]) assert.property(responses[status]?.headers, "X-RateLimit-Reset", name)
      for (const response of Object.values(responses)) assert.property(response.headers, "X-Request-Id", name)
    }
  }))

it.effect("documents numbers in headers and queries as integers, and bodies without other properties", () =>
  Effect.sync(() => {
    assert.notInclude(JSON.stringify(document), "^[+-]?(?:")
    for (const [name, schema] of Object.entries(document.components.schemas)) {
      if ("properties" in schema) assert.propertyVal(schema, "additionalProperties", false, name)
    }
  }))

it.effect("forbids caches to store responses with a secret", () =>
  Effect.sync(() => {
    const uncached = operations.flatMap(({ name, responses }) =>
      Object.values(responses).some(({ headers }) => headers !== undefined && "Cache-Control" in headers) ? [name] : []
    )
    assert.deepStrictEqual(uncached.map((name) => name.split("/").at(-1)), [
      "keys",
      "roll",
      "members",
      "sign-in-links",
      "webhook-endpoints",
      "rotate",
      "operators",
      "rotate",
      "sign-in-links",
      "sign-in-links"
    ])
  }))

it.effect("documents parameters of the same name separately", () =>
  Effect.sync(() => {
    for (const { name, parameters } of operations) {
      for (const parameter of parameters) assert.property(parameter, "description", `${parameter.name} of ${name}`)
    }
    const limits = operations.flatMap(({ parameters }) => parameters.filter(({ name }) => name === "limit"))
    assert.deepStrictEqual(limits.map(({ schema }) => Object(schema).maximum), [
      100,
      100,
      100,
      100,
      100,
      100,
      100,
      100,
      100,
      1_000,
      10_000,
      100,
      100
    ])
  }))
