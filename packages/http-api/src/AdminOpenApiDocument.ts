/** The interface for operators described for programs. Apart from `AdminApi`, so that a client does not carry it. */
import { OpenApi } from "effect/http-api"
import { AdminApi } from "./AdminApi.ts"

/** The OpenAPI 3.1 document (D50). Also in this package's `admin-openapi.json`. */
export const document: OpenApi.OpenAPISpec = OpenApi.fromApi(AdminApi)
