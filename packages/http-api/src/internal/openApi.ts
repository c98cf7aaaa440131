/**
 * Completes the generated OpenAPI document where the generator cannot know what
 * travels: numbers in headers and queries, headers that every response carries,
 * event streams, forms, partial content, HEAD, and webhooks.
 */
import type { OpenApi } from "effect/http-api"
import { dropImpossible, simplify } from "./operations.ts"
import { webhooks } from "./webhooks.ts"

/** Makes `spec` tell the whole truth. Changes it in place. */
export const complete = (spec: OpenApi.OpenAPISpec): OpenApi.OpenAPISpec => {
  for (const [path, item] of Object.entries(spec.paths)) {
    const isFile = item.get?.tags.includes("content") ?? false
    if (isFile && item.get !== undefined) {
      addPartialContent(item.get, path.endsWith("/content") ? resultTypes : ["image/webp"])
    }
    for (const operation of [item.get, item.post, item.delete]) {
      if (operation === undefined) continue
      dropImpossible(operation)
      for (const content of contentsOf(operation)) completeStreams(content)
      for (const parameter of operation.parameters) completeParameter(parameter)
      for (const response of Object.values(operation.responses)) {
        response.headers = completeHeaders(response.headers ?? {}, isLimited(path))
      }
    }
    if (isFile && item.get !== undefined) item.head = headOf(item.get)
  }
  addEventHeaders(spec.paths["/v1/generations/{id}/events"]?.get)
  addForm(spec.paths["/v1/uploads"]?.post)
  // The generator's type of the document does not know them.
  Object.assign(spec, { webhooks: webhooks() })
  spec.tags.push({ name: "webhooks", description: "What is sent to an account's webhook endpoints." })
  simplify(spec)
  dropUnused(spec)
  return spec
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const int64 = { type: "integer", format: "int64" }
const text = { type: "string" }
const day = { type: "string", pattern: "^\\d{4}-\\d{2}-\\d{2}$" }

/** Bodies of the request and of every response, by media type. */
const contentsOf = (
  { requestBody, responses }: OpenApi.OpenAPISpecOperation
): ReadonlyArray<OpenApi.OpenApiSpecContent> =>
  [requestBody?.content, ...Object.values(responses).map(({ content }) => content)].filter((content) =>
    content !== undefined
  )

/** Says of a stream what a client reads, not how Effect's own client does. */
const completeStreams = (content: OpenApi.OpenApiSpecContent): void => {
  for (const [mediaType, body] of Object.entries(content)) {
    if (mediaType === "text/event-stream") {
      body.schema = {
        type: "string",
        description: "Server-sent events `generation`, whose `data` is a `Generation` as JSON on one line, and " +
          "whose `id` is its status. Lines that begin with a colon keep the connection open."
      }
    }
    delete body["x-effect-stream"]
  }
}

/** The other way to send an image (D19). */
const addForm = (operation: OpenApi.OpenAPISpecOperation | undefined): void => {
  if (operation?.requestBody === undefined) return
  operation.requestBody.content["multipart/form-data"] = {
    schema: {
      type: "object",
      properties: { file: { type: "string", format: "binary" } },
      required: ["file"]
    }
  }
}

/** Leaves out the schemas that nothing refers to any more. */
const dropUnused = (spec: OpenApi.OpenAPISpec): void => {
  const { schemas } = spec.components
  const isUsed = (name: string) => JSON.stringify(spec).includes(`"#/components/schemas/${name}"`)
  for (const name of Object.keys(schemas)) if (!isUsed(name)) delete schemas[name]
}

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

/** What a page in a browser may do with a file, and how long its copy of it is good (D33). */
const validityHeaders = {
  "ETag": header("A strong validator of the bytes.", text),
  "Last-Modified": header("When the result was stored.", text),
  "Cache-Control": header("`private`, for as long as the result or the URL lives.", text),
  "Access-Control-Allow-Origin": header("Always `*`.", { type: "string", const: "*" }),
  "Access-Control-Expose-Headers": header("What a page of another origin may read of the headers.", text),
  "Cross-Origin-Resource-Policy": header("Always `cross-origin`.", { type: "string", const: "cross-origin" })
}

const fileHeaders = {
  ...validityHeaders,
  "Accept-Ranges": header("Always `bytes`.", { type: "string", const: "bytes" }),
  "Content-Length": header("Bytes of the body; of the whole result for HEAD.", int64),
  "Content-Disposition": header("`inline`, or `attachment` with `download=1`, and a file name.", text),
  "X-Content-Type-Options": header("Always `nosniff`.", { type: "string", const: "nosniff" })
}

/** What models make. */
const resultTypes = ["image/png", "image/jpeg", "image/webp", "video/mp4", "video/webm"]

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
  "if-none-match": "If-None-Match",
  "x-plan": "X-Plan"
}

/** What the parameters are, where a pattern on their text would be lost. */
const parameterSchemas: Readonly<Record<string, { readonly schema: object; readonly description: string }>> = {
  "Idempotency-Key": {
    schema: { type: "string", minLength: 1, maxLength: 255, pattern: "^[\\x20-\\x7e]+$" },
    description: "Printable ASCII. The same key with the same body returns the first job."
  },
  "wait": { schema: { ...int64, minimum: 0 }, description: "Seconds; values above 60 are treated as 60." },
  "X-Plan": {
    schema: { type: "string", enum: ["studio", "credits"] },
    description: "The group to charge, as `plan` in the body. A model of the Studio plan needs one of them."
  },
  "limit": { schema: { ...int64, minimum: 1, maximum: 100, default: 20 }, description: "Jobs on a page." },
  "cursor": { schema: text, description: "`next_cursor` of the page before." },
  "from": { schema: day, description: "First UTC day. Default: 6 days before `to`." },
  "to": { schema: day, description: "Last UTC day, inclusive. Default: today." },
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

const addPartialContent = (operation: OpenApi.OpenAPISpecOperation, mediaTypes: ReadonlyArray<string>): void => {
  const bytes = { schema: { type: "string", format: "binary" } } as const
  const content = Object.fromEntries(mediaTypes.map((mediaType) => [mediaType, bytes]))
  operation.responses[200] = { description: "The whole result.", content, headers: fileHeaders }
  operation.responses[206] = {
    description: "The requested range.",
    content,
    headers: { ...fileHeaders, "Content-Range": header("`bytes <first>-<last>/<size>`.", text) }
  }
  operation.responses[304] = { description: "The caller's copy is still good.", headers: validityHeaders }
}

/** The stream is neither kept nor held back on its way. */
const addEventHeaders = (operation: OpenApi.OpenAPISpecOperation | undefined): void => {
  Object.assign(operation?.responses[200]?.headers ?? {}, {
    "Cache-Control": header("Always `no-cache`.", { type: "string", const: "no-cache" }),
    "X-Accel-Buffering": header("Always `no`.", { type: "string", const: "no" })
  })
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
