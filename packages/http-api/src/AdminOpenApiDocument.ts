/** The OpenAPI document of the operator API. Separate from `AdminApi`, so that clients do not bundle it. */
import { OpenApi } from "effect/http-api"
import { AdminApi } from "./AdminApi.ts"

/** The OpenAPI 3.1 document, also in `admin-openapi.json` of this package. */
export const document: OpenApi.OpenAPISpec = OpenApi.fromApi(AdminApi)
