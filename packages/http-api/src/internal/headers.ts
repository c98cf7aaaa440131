/** Headers as the OpenAPI documents describe them. */
import type { OpenApi } from "effect/http-api"
import { type AnyErrorCode, definitionOf } from "../ErrorCode.ts"
import type { Policy } from "../RequestPolicy.ts"

type Headers = Record<string, OpenApi.OpenAPISpecHeader>

export const int64 = { type: "integer", format: "int64" }
export const text = { type: "string" }

/** A header that is always present, unless `required` is `false`. */
export const header = (description: string, schema: object, required = true): OpenApi.OpenAPISpecHeader => ({
  description,
  schema,
  required
})

/** The headers of every response with this status: limits and the request id. */
export const commonHeaders = ({ authentication, rate }: Policy, status: number): Headers => ({
  ...(rate !== "none" ? rateHeaders : {}),
  ...(countsFailures.has(authentication) && (status === 401 || status === 429) ? failureHeaders : {}),
  "X-Request-Id": header("The id of the request in the logs: the caller's, or a new one.", text)
})

/** The headers of an error response with one of these codes, which have one status. */
export const errorHeaders = (codes: ReadonlyArray<AnyErrorCode>): Headers => {
  const definitions = codes.map(definitionOf)
  const status = definitions[0]?.status
  const waits = definitions.filter(({ retry }) => retry === "after").length
  const refuses = definitions.filter(({ retry }) => retry === undefined).length
  const isEvery = (count: number) => count === codes.length
  return {
    ...(status === 401 ? { "WWW-Authenticate": header("Always `Bearer`.", constant("Bearer")) } : {}),
    ...(status === 416
      ? { "Content-Range": header("`bytes */<size>`.", { ...text, pattern: "^bytes \\*/\\d+$" }) }
      : {}),
    ...(waits === 0 ? {} : {
      "Retry-After": header("Seconds to wait before the next attempt, at least 1.", int64, isEvery(waits)),
      "retry-after-ms": header("Milliseconds to wait before the next attempt.", int64, isEvery(waits))
    }),
    ...(status === 429 || (status === 409 && refuses > 0)
      ? {
        "x-should-retry": header(
          "`false`: clients should not retry by themselves.",
          constant("false"),
          isEvery(refuses)
        )
      }
      : {})
  }
}

/** A string with one possible value. */
export const constant = (value: string) => ({ type: "string", const: value })

/** The headers of a success, under their usual names. The generator describes numbers as text with a pattern. */
export const successHeaders = (found: Readonly<Headers>): Headers =>
  Object.fromEntries(
    Object.entries(found).map(([name, header]) => {
      const known = described[name]
      return known === undefined ? [name, header] : [known.name, {
        description: descriptionOf(header.schema) ?? known.description,
        schema: isNumberText(header.schema) ? int64 : withoutDescription(header.schema),
        required: header.required ?? false
      }]
    })
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const rateHeaders = {
  "X-RateLimit-Limit": header("Requests per minute of the limit that applies to this request.", int64),
  "X-RateLimit-Remaining": header("Requests left in the current minute.", int64),
  "X-RateLimit-Reset": header("Unix time when the minute ends.", int64)
}

/** The kinds of authentication without a limit of their own. */
const countsFailures: ReadonlySet<Policy["authentication"]> = new Set(["operator", "credential"])

const failureHeaders = {
  "X-RateLimit-Limit": header("Failed authentications per minute of one address.", int64),
  "X-RateLimit-Remaining": header("Failed authentications left in the current minute.", int64),
  "X-RateLimit-Reset": header("Unix time when the minute ends.", int64)
}

const described: Readonly<Record<string, { readonly name: string; readonly description: string }>> = {
  "location": { name: "Location", description: "The URL of the job." },
  "idempotent-replayed": {
    name: "Idempotent-Replayed",
    description: "`true` if an earlier request created the job, and nothing was charged."
  },
  "x-ratelimit-limit": { name: "X-RateLimit-Limit", description: "Creations per minute of the plan group." },
  "x-ratelimit-remaining": { name: "X-RateLimit-Remaining", description: "Creations left in the current minute." },
  "x-ratelimit-reset": { name: "X-RateLimit-Reset", description: "Unix time when the minute ends." },
  "cache-control": { name: "Cache-Control", description: "The response contains a secret and must not be stored." },
  "set-cookie": { name: "Set-Cookie", description: "The cookie of the session, or one that has expired." },
  "clear-site-data": { name: "Clear-Site-Data", description: "Browsers remove what they have cached." }
}

/** The description that the contract gives a header. */
const descriptionOf = (schema: object): string | undefined =>
  "description" in schema && typeof schema.description === "string" ? schema.description : undefined

const withoutDescription = (schema: object): object =>
  Object.fromEntries(Object.entries(schema).filter(([name]) => name !== "description"))

const isNumberText = (schema: object): boolean =>
  "pattern" in schema && typeof schema.pattern === "string" && schema.pattern.startsWith("^[+-]?(?:\\d+")
