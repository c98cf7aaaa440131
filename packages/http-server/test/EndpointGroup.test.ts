import { assert, it } from "@effect/vitest"
import { Context, Effect, Layer, Schema } from "effect"
import { HttpEffect, HttpRouter, HttpServer } from "effect/http"
import { HttpApi, HttpApiBuilder, HttpApiEndpoint, HttpApiGroup, HttpApiMiddleware } from "effect/http-api"
import * as EndpointGroup from "../src/routes/endpointGroup.ts"

class Name extends Context.Service<Name, string>()("test/Name") {}

class Counting extends HttpApiMiddleware.Service<Counting>()("test/Counting") {}

const Api = HttpApi.make("api").add(
  HttpApiGroup.make("names").add(
    HttpApiEndpoint.get("find", "/name", {
      success: Schema.Struct({ name: Schema.String, keys: Schema.Array(Schema.String) })
    })
      .middleware(Counting)
  )
)

it.effect("runs handlers with their middleware, and not in the context in which they were made", () =>
  Effect.gen(function*() {
    let requests = 0
    const group = EndpointGroup.make(Api, "names", function*(handlers) {
      const name = yield* Name
      return handlers.handleAll({
        find: () => Effect.withFiber(({ context }) => Effect.succeed({ name, keys: [...context.mapUnsafe.keys()] }))
      })
    })
    const app = yield* HttpRouter.toHttpEffect(
      HttpApiBuilder.layer(Api).pipe(
        Layer.provide(group),
        Layer.provide([
          HttpServer.layerServices,
          Layer.succeed(Name, "configured"),
          Layer.succeed(Counting, (handler) =>
            Effect.suspend(() => {
              requests++
              return handler
            }))
        ])
      )
    )
    const respond = HttpEffect.toWebHandler(app)
    const response = yield* Effect.promise(() => respond(new Request("http://localhost/name")))
    const { keys, name } = JSON.parse(yield* Effect.promise(() => response.text()))
    assert.strictEqual(name, "configured")
    assert.strictEqual(requests, 1)
    assert.include(keys, Counting.key)
    assert.notInclude(keys, Name.key)
  }))
