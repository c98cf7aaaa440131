/** Envelopes for what does not fit the schemas of the contract. */
import { Issue } from "@kinora/catalog"
import { Envelope } from "@kinora/http-api/Access"
import { BadRequest, bodyOf, InternalServerError } from "@kinora/http-api/ApiError"
import { Effect, type Schema, SchemaIssue } from "effect"
import { HttpApiMiddleware } from "effect/http-api"

/** A wrong request is 400 with every problem (D17, D40); a response that does not fit is our bug. */
export const layer = HttpApiMiddleware.layerSchemaErrorTransform(Envelope, (error, { endpoint }) => {
  switch (error.kind) {
    case "Body":
    case "ResponseHeaders":
      return Effect.andThen(
        Effect.logError(`The response of ${endpoint.identifier} does not fit its schema`, error),
        Effect.fail(internalError)
      )
    case "Headers":
      return Effect.fail(invalidIdempotencyKey)
    case "Payload":
      return Effect.fail(
        new BadRequest({ error: bodyOf("invalid_request", { details: { issues: issuesOf(error.cause) } }) })
      )
    default:
      return Effect.fail(
        new BadRequest({ error: bodyOf("invalid_params", { details: { issues: issuesOf(error.cause) } }) })
      )
  }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const internalError = new InternalServerError({ error: bodyOf("internal_error") })

/** `Idempotency-Key` is the only header with a schema that text can miss. */
const invalidIdempotencyKey = new BadRequest({ error: bodyOf("invalid_idempotency_key") })

/** A body of nothing but mistakes is not answered with all of them. */
const issuesMax = 100
/** A message can quote what was sent, which can be long. */
const messageCharsMax = 300

const format = SchemaIssue.makeFormatterStandardSchemaV1()

const issuesOf = ({ issue }: Schema.SchemaError): ReadonlyArray<{ readonly path: string; readonly message: string }> =>
  format(issue).issues.slice(0, issuesMax).map(({ message, path = [] }) => ({
    path: Issue.formatPath(path.map((segment) => {
      const key = typeof segment === "object" ? segment.key : segment
      return typeof key === "number" ? key : String(key)
    })),
    message: message.length > messageCharsMax ? `${message.slice(0, messageCharsMax)}…` : message
  }))
