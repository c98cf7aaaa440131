import { NodeHttpServer } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Digest } from "effect/crypto"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import * as FixedResponse from "../src/middleware/fixedResponse.ts"

it.effect("all responses share the same bytes, so that one that is not received holds no copy", () =>
  Effect.gen(function*() {
    const fixed = HttpServerResponse.jsonUnsafe({ text: "a".repeat(100_000) })
    const respond = yield* HttpRouter.toHttpEffect(
      HttpRouter.add("GET", "/", fixed).pipe(Layer.provide(FixedResponse.layer))
    )
    for (const headers of [{}, { "accept-encoding": "gzip" }]) {
      const request = HttpServerRequest.fromWeb(new Request("http://localhost/", { headers }))
      const [first, second] = yield* Effect.all([respond, respond]).pipe(
        Effect.provideService(HttpServerRequest.HttpServerRequest, request)
      )
      assert(first.body._tag === "Uint8Array" && second.body._tag === "Uint8Array")
      assert.strictEqual(first.body.body, second.body.body)
      // A host would encode a text for each response.
      assert.isUndefined(first.body.text)
    }
  }).pipe(
    Effect.scoped,
    Effect.provide(Layer.merge(NodeHttpServer.layerHttpServices, Digest.layerWebCrypto))
  ))
