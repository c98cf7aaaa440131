import { Access, Api, ApiError } from "@kinora/http-api"
import { Effect, Layer, type Redacted } from "effect"
import { HttpClientRequest } from "effect/http"
import { HttpApiClient, HttpApiMiddleware } from "effect/http-api"

/** Makes a picture and answers with its URL. Needs an `HttpClient`, for example `FetchHttpClient.layer`. */
export const makePicture = Effect.fn("makePicture")(
  function*(baseUrl: string, prompt: string) {
    const kinora = yield* HttpApiClient.make(Api.Api, { baseUrl })

    const create = kinora.generations.create({
      headers: { "idempotency-key": `picture of ${prompt}` },
      payload: { plan: "credits", model: "kinora-canvas-1", params: { prompt } }
    })
    const { generation: { id } } = yield* Effect.catchIf(
      create,
      (error) => error instanceof ApiError.TooManyRequests,
      // Waiting is safe: with the same key an accepted request is never charged twice.
      (error) => Effect.andThen(Effect.sleep(error.retry.afterMillis), create)
    )

    const { error, output } = yield* kinora.generations.get({ params: { id }, query: { wait: 60 } })
    return output?.url ?? `no picture: ${error?.message ?? "not ready yet"}`
  }
)

/** Sends the key with every request. */
export const withKey = (key: Redacted.Redacted) => {
  const sendKey: HttpApiMiddleware.HttpApiMiddlewareClient<never, never, never> = ({ next, request }) =>
    next(HttpClientRequest.bearerToken(request, key))
  return Layer.mergeAll(
    HttpApiMiddleware.layerClient(Access.BearerAuth, sendKey),
    HttpApiMiddleware.layerClient(Access.ContentAuth, sendKey)
  )
}
