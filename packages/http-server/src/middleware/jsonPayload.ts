/** The payload of endpoints whose JSON can be large. It is parsed in pieces, which the framework does not. */
import { refuse } from "@kinora/http-api/ApiError"
import { Context, Effect, Schema } from "effect"
import { HttpApi, type HttpApiEndpoint } from "effect/http-api"
import { issuesOf } from "../wire/issues.ts"
import { currentRequest } from "./currentRequest.ts"

/**
 * Makes the effect that returns the payload of the current request. `schema` is the payload of the endpoint. Fails with
 * the errors that endpoints respond with whose payload the framework decodes.
 */
export const make = <A, I>(schema: Schema.Codec<A, I>, { annotations }: Pick<HttpApiEndpoint.Top, "annotations">) => {
  const decode = Schema.decodeUnknownEffect(schema, Context.getOrUndefined(annotations, HttpApi.PayloadParseOptions))
  return Effect.gen(function*() {
    const { json } = yield* currentRequest
    if (json === undefined) return yield* notJson
    if (json === "Malformed") return yield* malformed
    return yield* decode(json.value)
  }).pipe(
    Effect.catchTag("SchemaError", (error) => refuse("invalid_request", { details: { issues: issuesOf(error) } }))
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const notJson = refuse("unsupported_media_type")
const malformed = refuse("invalid_request", { details: { issues: [{ path: "", message: "must be valid JSON" }] } })
