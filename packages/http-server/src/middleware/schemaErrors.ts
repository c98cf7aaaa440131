/** Maps requests and responses that do not fit the schemas of the contract to errors. */
import { Envelope } from "@kinora/http-api/Access"
import { refuse } from "@kinora/http-api/ApiError"
import { Effect } from "effect"
import { HttpApiMiddleware } from "effect/http-api"
import { issuesOf, queryIssuesOf } from "../wire/issues.ts"

/** A request that does not fit is rejected with every problem. A response that does not fit is a bug, and 500. */
export const layer = HttpApiMiddleware.layerSchemaErrorTransform(Envelope, (error, { endpoint }) => {
  switch (error.kind) {
    case "Body":
    case "ResponseHeaders":
      return Effect.andThen(
        Effect.logError(`The response of ${endpoint.identifier} does not match its schema`, error),
        internalError
      )
    case "Headers":
      // `Idempotency-Key` is the only header whose schema rejects some text.
      return invalidIdempotencyKey
    case "Payload":
      return refuse("invalid_request", { details: { issues: issuesOf(error.cause) } })
    default:
      return refuse("invalid_params", { details: { issues: queryIssuesOf(error.cause) } })
  }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const internalError = refuse("internal_error")
const invalidIdempotencyKey = refuse("invalid_idempotency_key")
