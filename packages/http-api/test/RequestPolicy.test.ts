import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { HttpApi, type HttpApiEndpoint, type HttpApiGroup } from "effect/http-api"
import { AdminAuth, BearerAuth, ConsoleAuth, ConsoleKeyAuth, ContentAuth } from "../src/Access.ts"
import { AdminApi } from "../src/AdminApi.ts"
import { Api } from "../src/Api.ts"
import { ConsoleApi } from "../src/ConsoleApi.ts"
import * as RequestPolicy from "../src/RequestPolicy.ts"

interface Found {
  readonly name: string
  readonly endpoint: HttpApiEndpoint.Top
}

const endpointsOf = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
): ReadonlyArray<Found> => {
  const found: Array<Found> = []
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, group }) => {
      found.push({ name: `${group.identifier}.${endpoint.identifier}`, endpoint })
    }
  })
  return found
}

const endpoints = [...endpointsOf(Api), ...endpointsOf(AdminApi), ...endpointsOf(ConsoleApi)]

const middlewareOf = {
  none: undefined,
  key: BearerAuth,
  link: ContentAuth,
  operator: AdminAuth,
  session: ConsoleAuth,
  keyOrSession: ConsoleKeyAuth,
  credential: undefined
} as const

const isOfConsole = ({ path }: HttpApiEndpoint.Top) =>
  path.startsWith("/console/v1/") && path !== "/console/v1/session" && !path.startsWith("/console/v1/sign-in")

it.effect("annotates every endpoint with a policy", () =>
  Effect.sync(() => {
    assert.isAbove(endpoints.length, 40)
    for (const { endpoint, name } of endpoints) {
      assert.containsAllKeys(RequestPolicy.of(endpoint), ["authentication", "body", "rate"], name)
    }
  }))

it.effect("requires exactly the authentication of the policy", () =>
  Effect.sync(() => {
    for (const { endpoint, name } of endpoints) {
      const expected = middlewareOf[RequestPolicy.of(endpoint).authentication]
      for (const middleware of [BearerAuth, ContentAuth, AdminAuth, ConsoleAuth, ConsoleKeyAuth]) {
        const found = Array.from(endpoint.middlewares, ({ key }) => key).includes(middleware.key)
        assert.strictEqual(found, middleware === expected, `${middleware.key} of ${name}`)
      }
    }
  }))

it.effect("reads a body exactly where the endpoint has a payload", () =>
  Effect.sync(() => {
    for (const { endpoint, name } of endpoints) {
      assert.strictEqual(RequestPolicy.of(endpoint).body !== "none", endpoint.payload.size > 0, name)
    }
    const ofBody = (body: RequestPolicy.Policy["body"]) =>
      endpoints.filter(({ endpoint }) => RequestPolicy.of(endpoint).body === body).map(({ name }) => name)
    assert.deepStrictEqual(ofBody("creation"), ["generations.create", "images.generate"])
    assert.deepStrictEqual(ofBody("image"), ["uploads.create"])
  }))

it.effect("counts every request below /v1 against its key, and creations against the plan group too", () =>
  Effect.sync(() => {
    for (const { endpoint, name } of endpoints) {
      const { body, rate } = RequestPolicy.of(endpoint)
      assert.strictEqual(rate !== "none", endpoint.path.startsWith("/v1/") || isOfConsole(endpoint), name)
      assert.strictEqual(rate === "creation", body === "creation", name)
    }
  }))

it.effect("requires a role of operators exactly below /admin/v1", () =>
  Effect.sync(() => {
    for (const { endpoint, name } of endpoints) {
      assert.strictEqual(RequestPolicy.of(endpoint).role !== undefined, endpoint.path.startsWith("/admin/v1/"), name)
    }
  }))

it.effect("requires a session or a key below /console/v1, except for sign-ins, and its own display and end", () =>
  Effect.sync(() => {
    for (const { endpoint, name } of endpoints) {
      const { access, authentication } = RequestPolicy.of(endpoint)
      assert.strictEqual(access !== undefined, isOfConsole(endpoint), name)
      assert.strictEqual(["session", "keyOrSession"].includes(authentication), isOfConsole(endpoint), name)
    }
  }))
