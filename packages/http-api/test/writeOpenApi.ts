/** Writes `openapi.json`: `npm run openapi -w @kinora/http-api`. */
import { writeFileSync } from "node:fs"
import { document } from "../src/OpenApiDocument.ts"

writeFileSync(new URL("../openapi.json", import.meta.url), `${JSON.stringify(document, null, 2)}\n`)
