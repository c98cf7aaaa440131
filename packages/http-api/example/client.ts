import { Access, Api } from "@kinora/http-api"
import { Effect, Layer, type Redacted } from "effect"
import { HttpClientRequest } from "effect/http"
import { HttpApiClient, HttpApiMiddleware } from "effect/http-api"

/** Creates an image and returns its URL. Needs an `HttpClient`, such as `FetchHttpClient.layer`. */
export const createImage = Effect.fn("createImage")(
  function*(baseUrl: string, prompt: string) {
    const kinora = yield* HttpApiClient.make(Api.Api, { baseUrl })

    const create = kinora.generations.create({
      headers: { "idempotency-key": `image of ${prompt}` },
      payload: { plan: "credits", model: "kinora-still", params: { prompt } }
    })
    // Retrying is safe: a request with the same key is charged once.
    const { generation: { id } } = yield* Effect.catchTag(
      create,
      "rate_limited",
      ({ retryAfterMillis }) => Effect.andThen(Effect.sleep(retryAfterMillis), create)
    )

    const { error, output } = yield* kinora.generations.get({ params: { id }, query: { wait: 60 } })
    return output?.url ?? `no image: ${error?.message ?? "not ready yet"}`
  }
)

/** Sends the API key with every request. */
export const withKey = (key: Redacted.Redacted) => {
  const sendKey: HttpApiMiddleware.HttpApiMiddlewareClient<never, never, never> = ({ next, request }) =>
    next(HttpClientRequest.bearerToken(request, key))
  return Layer.mergeAll(
    HttpApiMiddleware.layerClient(Access.BearerAuth, sendKey),
    HttpApiMiddleware.layerClient(Access.ContentAuth, sendKey)
  )
}
