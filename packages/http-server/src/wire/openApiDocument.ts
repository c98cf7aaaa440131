/** The response with the OpenAPI document of an API. */
import { Function } from "effect"
import { HttpServerResponse } from "effect/http"
import { type HttpApi, type HttpApiGroup, OpenApi } from "effect/http-api"

/** Computes the document on the first request, because it takes as long as a fifth of the start of a server. */
export const openApiDocument: <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
) => HttpServerResponse.HttpServerResponse = Function.memoize((api) =>
  HttpServerResponse.jsonUnsafe(OpenApi.fromApi(api))
)
