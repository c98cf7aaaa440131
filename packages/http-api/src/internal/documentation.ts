/** Annotations of an API as a whole: its documentation, and how it parses requests. */
import { Context } from "effect"
import { HttpApi, OpenApi } from "effect/http-api"

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

/** Rejects unknown properties of bodies, and reports all problems of a request instead of the first one. */
export const strictParsing = Context.make(HttpApi.QueryParseOptions, { errors: "all" }).pipe(
  Context.add(HttpApi.PayloadParseOptions, { onExcessProperty: "error", errors: "all" })
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const conventions =
  "Every error is the envelope `{ error: { code, message, plan, details } }`. Unknown paths respond " +
  "with 404 `not_found`; known paths with another method respond with 405 `method_not_allowed` and the header `Allow`. " +
  "Every path that supports GET supports HEAD. Paths match exactly."
