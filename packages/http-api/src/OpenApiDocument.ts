/**
 * The interface described for programs. Apart from `Api`, so that a client does not
 * carry it.
 */
import { OpenApi } from "effect/http-api"
import { Api } from "./Api.ts"

/** The OpenAPI 3.1 document (D49). Also in this package's `openapi.json`. */
export const document: OpenApi.OpenAPISpec = OpenApi.fromApi(Api)
