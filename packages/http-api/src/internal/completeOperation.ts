/** Completes an operation of an OpenAPI document with what its policy and its error codes imply. */
import type { OpenApi } from "effect/http-api"
import { type AnyErrorCode, definitionOf } from "../ErrorCode.ts"
import type { Policy } from "../RequestPolicy.ts"
import { authenticationErrors, schemaErrors } from "./errorCodes.ts"
import { schemaName } from "./errorResponses.ts"
import { commonHeaders, errorHeaders, successHeaders } from "./headers.ts"
import { completeParameter } from "./parameters.ts"

/** Describes the parameters, the errors of each status, and the headers. */
export const completeOperation = (
  operation: OpenApi.OpenAPISpecOperation,
  policy: Policy,
  codes: ReadonlyArray<AnyErrorCode>
): OpenApi.OpenAPISpecOperation => {
  for (const parameter of operation.parameters) completeParameter(parameter, operation.operationId)
  const responses: OpenApi.OpenAPISpecResponses = {}
  for (const [status, response] of Object.entries(operation.responses)) {
    if (Number(status) >= 400) continue
    const headers = { ...successHeaders(response.headers ?? {}), ...commonHeaders(policy, Number(status)) }
    responses[Number(status)] = { ...response, description: descriptionOf(response, status), headers }
  }
  const all = [
    ...schemaErrors.filter((code) => canRespond(operation, code)),
    ...authenticationErrors[policy.authentication],
    // Every role permits what an auditor may do.
    ...(policy.role === undefined || policy.role === "auditor" ? [] : ["role_missing" as const]),
    ...codes
  ]
  for (const [status, those] of byStatus(all)) responses[status] = errorResponse(status, those, policy)
  if (policy.role === undefined) return { ...operation, responses }
  const role = `Role: \`${policy.role}\`.`
  const { description } = operation
  return { ...operation, description: description === undefined ? role : `${description} ${role}`, responses }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Whether the operation has the part of a request that the code is about. */
const canRespond = (
  { parameters, requestBody }: OpenApi.OpenAPISpecOperation,
  code: (typeof schemaErrors)[number]
): boolean => {
  switch (code) {
    case "invalid_request":
      return requestBody !== undefined
    case "invalid_params":
      return parameters.some(({ in: place }) => place === "query")
    case "invalid_idempotency_key":
      return parameters.some(({ name }) => name === "Idempotency-Key")
    case "internal_error":
      return true
  }
}

/** The generator names responses without a description after their classes, or by their status. */
const descriptionOf = ({ content, description }: OpenApi.OpenApiSpecResponse, status: string): string => {
  switch (description) {
    case "CreatedGeneration":
      return "The job was created."
    case "ReplayedGeneration":
      return "The job of an earlier request. Nothing is charged."
    case "<No Content>":
      return status === "303" ? "The browser continues at `Location`." : "The change is made. The response has no body."
    case "Success":
      if (content !== undefined && "text/event-stream" in content) return "The stream of events."
      return content !== undefined && "text/plain" in content ? "The text." : "The result of the request."
    default:
      return description
  }
}

const byStatus = (codes: ReadonlyArray<AnyErrorCode>): ReadonlyArray<readonly [number, ReadonlyArray<AnyErrorCode>]> =>
  Object.entries(Object.groupBy(new Set(codes), (code) => definitionOf(code).status)).map(
    ([status, group = []]) => [Number(status), group]
  )

const errorResponse = (
  status: number,
  codes: ReadonlyArray<AnyErrorCode>,
  policy: Policy
): OpenApi.OpenApiSpecResponse => {
  const schemas = codes.map((code) => ({ $ref: `#/components/schemas/${schemaName(code)}` }))
  const [only] = schemas
  return {
    description: codes.map((code) => `\`${code}\`: ${definitionOf(code).message}`).join("\n"),
    content: {
      "application/json": {
        schema: {
          type: "object",
          properties: {
            error: {
              ...(schemas.length === 1 ? only : { anyOf: schemas }),
              description: "The error. `code` tells which one."
            }
          },
          required: ["error"],
          additionalProperties: false
        }
      }
    },
    headers: { ...errorHeaders(codes), ...commonHeaders(policy, status) }
  }
}
