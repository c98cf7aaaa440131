/** The OpenAPI document of the API for clients. Separate from `Api`, so that clients do not bundle it. */
import { OpenApi } from "effect/http-api"
import { Api } from "./Api.ts"

/** The OpenAPI 3.1 document, also in `openapi.json` of this package. */
export const document: OpenApi.OpenAPISpec = OpenApi.fromApi(Api)
