import { assert, it } from "@effect/vitest"
import { Accounts } from "@kinora/accounts"
import { Access, Api } from "@kinora/http-api"
import { DateTime, Effect, Fiber, Layer, Option, Redacted } from "effect"
import { FetchHttpClient, HttpClientRequest } from "effect/http"
import { HttpApiClient, HttpApiMiddleware } from "effect/http-api"
import { TestClock } from "effect/testing"
import * as TestHost from "../src/TestHost.ts"

/** Typed client of the HTTP API with the key of the host's first account. */
const makeClient = Effect.gen(function*() {
  const { account, baseUrl, fetch } = yield* TestHost.TestHost
  const key = Redacted.make(account.apiKey)
  return yield* HttpApiClient.make(Api.Api, { baseUrl }).pipe(
    Effect.provide(Layer.mergeAll(
      FetchHttpClient.layer.pipe(Layer.provide(Layer.succeed(FetchHttpClient.Fetch, fetch))),
      HttpApiMiddleware.layerClient(
        Access.BearerAuth,
        ({ next, request }) => next(HttpClientRequest.bearerToken(request, key))
      ),
      HttpApiMiddleware.layerClient(Access.ContentAuth, ({ next, request }) => next(request))
    ))
  )
})

const payload = { plan: "credits", model: "kinora-still", params: { prompt: "a lake" } } as const

it.effect("serves the typed client, and TestClock moves its time", () =>
  Effect.gen(function*() {
    const kinora = yield* TestHost.TestHost
    const client = yield* makeClient
    yield* kinora.generator.hold
    const { generation: { id } } = yield* client.generations.create({ headers: {}, payload })
    yield* kinora.generator.started(id)

    const polled = yield* Effect.forkChild(client.generations.get({ params: { id }, query: { wait: 60 } }))
    yield* TestClock.adjust("30 seconds")
    yield* kinora.generator.succeed(id)
    const generation = yield* Fiber.join(polled)
    assert.strictEqual(generation.status, "completed")
    assert.strictEqual(
      DateTime.formatIso(generation.finished_at ?? (yield* DateTime.now)),
      "2030-01-01T00:00:30.000Z"
    )
  }).pipe(Effect.provide(TestHost.layer())))

it.effect("provides the services of the product", () =>
  Effect.gen(function*() {
    const { account } = yield* TestHost.TestHost
    const accounts = yield* Accounts.Accounts
    const found = yield* accounts.authenticate(Redacted.make(account.apiKey))
    assert.strictEqual(Option.getOrThrow(found).account.id, account.id)
    assert.strictEqual(DateTime.formatIso(yield* DateTime.now), "2030-01-01T00:00:00.000Z")
  }).pipe(Effect.provide(TestHost.layer())))

it.effect("builds an independent service each time, also inside another", () =>
  Effect.gen(function*() {
    const outer = yield* TestHost.TestHost
    const inner = yield* TestHost.TestHost.pipe(Effect.provide(TestHost.layer()))
    assert.notStrictEqual(inner.account.id, outer.account.id)
    const response = yield* Effect.promise(() => outer.fetch("/v1/models", { apiKey: inner.account.apiKey }))
    assert.strictEqual(response.status, 401)
  }).pipe(Effect.provide(TestHost.layer())))
