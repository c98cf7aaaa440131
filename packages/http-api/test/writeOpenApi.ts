/** Writes `openapi.json`, `admin-openapi.json` and `console-openapi.json`: `npm run openapi -w @kinora/http-api`. */
import type { OpenApi } from "effect/http-api"
import { writeFileSync } from "node:fs"
import * as Admin from "../src/AdminOpenApiDocument.ts"
import * as Console from "../src/ConsoleOpenApiDocument.ts"
import { document } from "../src/OpenApiDocument.ts"

const write = (name: string, document: OpenApi.OpenAPISpec) =>
  writeFileSync(new URL(`../${name}`, import.meta.url), `${JSON.stringify(document, null, 2)}\n`)

write("openapi.json", document)
write("admin-openapi.json", Admin.document)
write("console-openapi.json", Console.document)
