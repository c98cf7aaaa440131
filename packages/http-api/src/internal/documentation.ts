/** The documentation of an API as a whole. */
import { OpenApi } from "effect/http-api"

/** Annotates an API with its title and description, and completes its OpenAPI document. */
export const documentation = (
  title: string,
  description: string,
  complete: (document: OpenApi.OpenAPISpec) => OpenApi.OpenAPISpec
) =>
  OpenApi.annotations({
    title,
    version: "1.0.0",
    description: `${description} ${conventions}`,
    license: { name: "Apache-2.0", url: "https://www.apache.org/licenses/LICENSE-2.0" },
    servers: [{ url: "/", description: "The origin of this document." }],
    // The type of the option is a record.
    transform: (document) => complete(document as OpenApi.OpenAPISpec)
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const conventions =
  "Every error is the envelope `{ error: { code, message, plan, details } }`. Unknown paths respond " +
  "with 404 `not_found`; known paths with another method respond with 405 `method_not_allowed` and the header `Allow`. " +
  "Every path that supports GET supports HEAD. Paths match exactly."
