import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { document } from "../src/ConsoleOpenApiDocument.ts"

const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  (["get", "post", "put", "patch", "delete"] as const).flatMap((method) => {
    const operation = item[method]
    return operation === undefined ? [] : [{ name: `${method} ${path}`, method, path, ...operation }]
  })
)

it.effect("console-openapi.json is up to date", () =>
  Effect.sync(() => {
    const written = readFileSync(new URL("../console-openapi.json", import.meta.url), "utf8")
    assert.strictEqual(
      written,
      `${JSON.stringify(document, null, 2)}\n`,
      "run: npm run openapi -w @kinora/http-api"
    )
  }))

it.effect("documents the operations of sessions, keys, webhooks and reports", () =>
  Effect.sync(() => {
    assert.deepStrictEqual(operations.map(({ name }) => name.replace("/console/v1", "")), [
      "get /session",
      "post /session",
      "delete /session",
      "get /sign-in",
      "get /sign-in/oidc/{provider}",
      "get /sign-in/oidc/{provider}/callback",
      "get /sessions",
      "delete /sessions",
      "delete /sessions/{id}",
      "get /members",
      "post /members",
      "patch /members/{id}",
      "delete /members/{id}",
      "post /members/{id}/sign-in-links",
      "get /keys",
      "post /keys",
      "patch /keys/{id}",
      "delete /keys/{id}",
      "post /keys/{id}/roll",
      "get /webhook-endpoints",
      "post /webhook-endpoints",
      "get /webhook-endpoints/{id}",
      "patch /webhook-endpoints/{id}",
      "delete /webhook-endpoints/{id}",
      "post /webhook-endpoints/{id}/rotate",
      "post /webhook-endpoints/{id}/test",
      "get /webhook-endpoints/{id}/sends",
      "get /webhook-endpoints/{id}/deliveries",
      "post /webhook-endpoints/{id}/deliveries/{delivery_id}/resend",
      "get /webhook-endpoints/{id}/deliveries/{delivery_id}",
      "post /webhook-endpoints/{id}/resend-failed",
      "get /summary",
      "get /statement",
      "get /generations/{id}/activity",
      "get /events",
      "post /view",
      "delete /view"
    ])
  }))

it.effect("requires the cookie of a session except for sign-ins and /session; for webhook endpoints, a key is enough", () =>
  Effect.sync(() => {
    for (const { name, path, responses, security } of operations) {
      const isOpen = path === "/console/v1/session" || path.startsWith("/console/v1/sign-in")
      const isWebhook = path.startsWith("/console/v1/webhook-endpoints")
      const needed = isWebhook ? [{ bearer: [] }, { session: [] }] : [{ session: [] }]
      assert.deepStrictEqual(security, isOpen ? [] : needed, name)
      if (!isOpen) assert.property(responses[401]?.headers, "X-RateLimit-Reset", name)
      for (const response of Object.values(responses)) assert.property(response.headers, "X-Request-Id", name)
    }
  }))

it.effect("documents cross_origin for every change and for no read", () =>
  Effect.sync(() => {
    for (const { method, name, responses } of operations) {
      const isDocumented = JSON.stringify(responses).includes("schemas/CrossOriginError")
      assert.strictEqual(isDocumented, method !== "get", name)
    }
  }))

it.effect("documents bodies without other properties, and the cookie of sign-in and sign-out", () =>
  Effect.sync(() => {
    for (const [name, schema] of Object.entries(document.components.schemas)) {
      if ("properties" in schema) assert.propertyVal(schema, "additionalProperties", false, name)
    }
    const withCookie = operations.filter(({ responses }) => "Set-Cookie" in (responses[204]?.headers ?? {}))
    assert.deepStrictEqual(withCookie.map(({ name }) => name), [
      "post /console/v1/session",
      "delete /console/v1/session"
    ])
  }))
