/**
 * Completes the generated OpenAPI document where the generator cannot know what
 * travels: numbers in headers and queries, headers that every response carries,
 * partial content, and HEAD.
 */
import type { OpenApi } from "effect/http-api"

/** Makes `spec` tell the whole truth. Changes it in place. */
export const complete = (spec: OpenApi.OpenAPISpec): OpenApi.OpenAPISpec => {
  for (const [path, item] of Object.entries(spec.paths)) {
    const isFile = item.get?.tags.includes("content") ?? false
    if (isFile && item.get !== undefined) addPartialContent(item.get)
    for (const operation of [item.get, item.post]) {
      if (operation === undefined) continue
      for (const parameter of operation.parameters) completeParameter(parameter)
      for (const response of Object.values(operation.responses)) {
        response.headers = completeHeaders(response.headers ?? {}, isLimited(path))
      }
    }
    if (isFile && item.get !== undefined) item.head = headOf(item.get)
  }
  return spec
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const int64 = { type: "integer", format: "int64" }
const text = { type: "string" }

/** Probes carry no limits (D26). */
const isLimited = (path: string) => path.startsWith("/v1/")

const header = (description: string, schema: object, required = true): OpenApi.OpenAPISpecHeader => ({
  description,
  schema,
  required
})

const requestIdHeader = header("Identifies the request in the service's logs: the caller's own, or a new one.", text)

const rateHeaders = {
  "X-RateLimit-Limit": header("Requests per minute of the limit that applies to this request.", int64),
  "X-RateLimit-Remaining": header("Requests left in the current minute.", int64),
  "X-RateLimit-Reset": header("Unix time when the minute ends.", int64)
}

const fileHeaders = {
  "Accept-Ranges": header("Always `bytes`.", { type: "string", const: "bytes" }),
  "Content-Length": header("Bytes of the body; of the whole result for HEAD.", int64),
  "Content-Disposition": header("`inline`, or `attachment` with `download=1`, and a file name.", text),
  "ETag": header("A strong validator of the bytes.", text),
  "Last-Modified": header("When the result was stored.", text),
  "Cache-Control": header("`private`, for as long as the result or the URL lives.", text)
}

/** What headers are called in prose, by what they are called in code. */
const headerNames: Readonly<Record<string, string>> = {
  "location": "Location",
  "idempotent-replayed": "Idempotent-Replayed",
  "x-ratelimit-limit": "X-RateLimit-Limit",
  "x-ratelimit-remaining": "X-RateLimit-Remaining",
  "x-ratelimit-reset": "X-RateLimit-Reset",
  "retry-after": "Retry-After",
  "www-authenticate": "WWW-Authenticate",
  "content-range": "Content-Range",
  "idempotency-key": "Idempotency-Key",
  "range": "Range",
  "if-range": "If-Range",
  "if-none-match": "If-None-Match"
}

/** What the parameters are, where a pattern on their text would be lost. */
const parameterSchemas: Readonly<Record<string, { readonly schema: object; readonly description: string }>> = {
  "Idempotency-Key": {
    schema: { type: "string", minLength: 1, maxLength: 255, pattern: "^[\\x20-\\x7e]+$" },
    description: "Printable ASCII. The same key with the same body returns the first job."
  },
  "wait": { schema: { ...int64, minimum: 0 }, description: "Seconds; values above 60 are treated as 60." },
  "exp": { schema: text, description: "Unix seconds until which the signed URL is good. Goes with `sig`." },
  "sig": { schema: text, description: "Signature of the URL. Goes with `exp`." },
  "download": { schema: text, description: "`1` asks for `Content-Disposition: attachment`." },
  "Range": { schema: text, description: "One byte range, `bytes=<start>-<end>`. Several are answered with the whole." },
  "If-Range": { schema: text, description: "The range counts only while this `ETag` or date still holds." },
  "If-None-Match": {
    schema: text,
    description: "`ETag`s that the caller has; one that still holds is answered with 304."
  }
}

const completeParameter = (parameter: OpenApi.OpenAPISpecParameter): void => {
  parameter.name = headerNames[parameter.name] ?? parameter.name
  Object.assign(parameter, parameterSchemas[parameter.name])
}

const completeHeaders = (
  headers: Readonly<Record<string, OpenApi.OpenAPISpecHeader>>,
  limited: boolean
): Record<string, OpenApi.OpenAPISpecHeader> => {
  const complete: Record<string, OpenApi.OpenAPISpecHeader> = {}
  for (const [name, header] of Object.entries(headers)) {
    complete[headerNames[name] ?? name] = isNumberText(header.schema) ? { ...header, schema: int64 } : header
  }
  return { ...complete, ...(limited ? rateHeaders : {}), "X-Request-Id": requestIdHeader }
}

/** A number in a header is generated as text with the pattern of all numbers. */
const isNumberText = (schema: object): boolean =>
  "pattern" in schema && typeof schema.pattern === "string" && schema.pattern.startsWith("^[+-]?(?:\\d+")

const addPartialContent = (operation: OpenApi.OpenAPISpecOperation): void => {
  const whole = operation.responses[200]
  if (whole === undefined) return
  operation.responses[200] = { ...whole, description: "The whole result.", headers: fileHeaders }
  operation.responses[206] = {
    ...whole,
    description: "The requested range.",
    headers: { ...fileHeaders, "Content-Range": header("`bytes <first>-<last>/<size>`.", text) }
  }
  operation.responses[304] = {
    description: "The caller's copy is still good.",
    headers: { "ETag": fileHeaders.ETag, "Cache-Control": fileHeaders["Cache-Control"] }
  }
}

/** HEAD has the checks and headers of GET, ignores `Range`, and never a body. */
const headOf = (get: OpenApi.OpenAPISpecOperation): OpenApi.OpenAPISpecOperation => {
  const responses: OpenApi.OpenAPISpecResponses = {}
  for (const [status, { description, headers }] of Object.entries(get.responses)) {
    if (status === "206" || status === "416") continue
    responses[Number(status)] = headers === undefined ? { description } : { description, headers }
  }
  return {
    ...get,
    operationId: `${get.operationId}Head`,
    summary: `${get.summary ?? ""}: headers only`,
    parameters: get.parameters.filter(({ name }) => name !== "Range" && name !== "If-Range"),
    responses
  }
}
