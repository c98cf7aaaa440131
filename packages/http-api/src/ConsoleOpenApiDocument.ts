/** The OpenAPI document of the console. Separate from `ConsoleApi`, so that clients do not bundle it. */
import { OpenApi } from "effect/http-api"
import { ConsoleApi } from "./ConsoleApi.ts"

/** The OpenAPI 3.1 document, also in `console-openapi.json` of this package. */
export const document: OpenApi.OpenAPISpec = OpenApi.fromApi(ConsoleApi)
