/**
 * Compares responses with the OpenAPI documents: path, method, status, headers, media type and body. A response that no
 * operation describes must be an error with 404 or 405.
 */
import { document as adminDocument } from "@kinora/http-api/AdminOpenApiDocument"
import { document as consoleDocument } from "@kinora/http-api/ConsoleOpenApiDocument"
import { document as publicDocument } from "@kinora/http-api/OpenApiDocument"
import type { OpenApi } from "effect/http-api"
import * as JsonSchemas from "./internal/JsonSchemas.ts"

/** A request and its response. */
export interface Exchange {
  readonly method: string
  /** With or without origin and query. */
  readonly url: string
  readonly status: number
  readonly headers: Headers
  /** The body as sent, or `undefined` if it was not read. */
  readonly body: string | undefined
}

/** Every response that the documents describe, except that of the console, written `GET /v1/models/{id} 404`. */
export const answers = (): ReadonlyArray<string> =>
  operations.filter(({ document }) => document !== consoleDocument).flatMap(({ name, responses }) =>
    Object.keys(responses).map((status) => `${name} ${status}`)
  )

/** The described response that this is, or `undefined` if no operation describes it. */
export const answerOf = (exchange: Exchange): string | undefined => {
  const { operation } = find(exchange)
  return operation?.responses[exchange.status] === undefined ? undefined : `${operation.name} ${exchange.status}`
}

/** Differences between a response and the documents, as sentences. */
export const problemsOf = (exchange: Exchange): ReadonlyArray<string> => {
  const { operation, siblings } = find(exchange)
  const response = operation?.responses[exchange.status]
  if (operation !== undefined && response !== undefined && !isUnknown(exchange, operation)) {
    return responseProblems(exchange, operation.document, response)
  }
  if (isPreflight(exchange) && siblings.length > 0) return []
  const methods = operation === undefined ? methodsAt(exchange, siblings) : []
  if (exchange.status === 405 && methods.length > 0) return refusalProblems(exchange, methods)
  if (exchange.status === 404 && siblings.every(isForOperators)) return refusalProblems(exchange)
  // Requests with a key count, whatever their path.
  const limited = publicDocument.paths["/v1/models"]?.get?.responses[429]
  if (exchange.status === 429 && operation === undefined && limited !== undefined) {
    return responseProblems(exchange, publicDocument, limited)
  }
  return [200, 302, 304].includes(exchange.status) && isApart(pathOf(exchange))
    ? []
    : [`status ${exchange.status} is not documented`]
}

/** Rejects if a response differs from the documents. Only JSON bodies are read, from a copy of the response. */
export const check = async (
  { method, url }: Pick<Exchange, "method" | "url">,
  response: Response
): Promise<void> => {
  const { headers, status } = response
  const body = isJson(mediaTypeOf(headers)) && method !== "HEAD" ? await response.clone().text() : undefined
  const problems = problemsOf({ method, url, status, headers, body })
  if (problems.length === 0) return
  throw new Error(`${method} ${pathOf({ url })} ${status} is not as documented: ${problems.join("; ")}. ${body ?? ""}`)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** A method of a path. */
interface Operation {
  /** Written `GET /v1/models/{id}`. */
  readonly name: string
  readonly method: string
  readonly document: OpenApi.OpenAPISpec
  readonly responses: OpenApi.OpenAPISpecResponses
  readonly matches: (path: string) => boolean
}

const methods = ["get", "head", "post", "put", "patch", "delete", "options", "trace"] as const

const operationsOf = (document: OpenApi.OpenAPISpec): ReadonlyArray<Operation> =>
  Object.entries(document.paths).flatMap(([template, item]) => {
    // A path segment with an invalid percent-encoding matches no template.
    const pattern = new RegExp(`^${template.replace(/\{\w+\}/g, "(?:[^/%]|%[\\da-fA-F]{2})+")}$`)
    return methods.flatMap((name) => {
      const method = name.toUpperCase()
      const responses = item[name]?.responses
      if (responses === undefined) return []
      return [{ name: `${method} ${template}`, method, document, responses, matches: (path) => pattern.test(path) }]
    })
  })

const operations = [publicDocument, adminDocument, consoleDocument].flatMap(operationsOf)

/** Whether a path serves the documents themselves, or a file of their page. */
const isApart = (path: string): boolean => apart.has(path) || path.startsWith("/docs/")

const apart = new Set(["/", "/openapi.json", "/docs", "/admin/v1/openapi.json"])

/** Headers of the transport, of CORS, and those that OpenAPI describes elsewhere. */
const general = new Set([
  "access-control-allow-origin",
  "access-control-expose-headers",
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "date",
  "keep-alive",
  "transfer-encoding",
  "vary"
])

const pathOf = ({ url }: Pick<Exchange, "url">) => new URL(url, "http://service").pathname

const mediaTypeOf = (headers: Headers) => headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase()

const isJson = (mediaType: string | undefined) => mediaType === "application/json"

/** Finds the operation and all others of its path. HEAD falls back to GET (RFC 9110, 9.3.2). */
const find = (exchange: Exchange) => {
  const path = pathOf(exchange)
  const siblings = operations.filter(({ matches }) => matches(path))
  const of = (wanted: string) => siblings.find(({ method }) => method === wanted)
  return { siblings, operation: of(exchange.method) ?? (exchange.method === "HEAD" ? of("GET") : undefined) }
}

const isForOperators = ({ document }: Operation) => document === adminDocument

const isPreflight = ({ headers, method, status }: Exchange) =>
  method === "OPTIONS" && status === 204 && headers.has("access-control-allow-methods")

/** Without a token, the operator API responds like an unknown path. */
const isUnknown = ({ headers, status }: Exchange, operation: Operation) =>
  status === 404 && isForOperators(operation) && headers.has("x-ratelimit-limit")

const headerProblems = (
  { headers }: Exchange,
  described: Readonly<Record<string, OpenApi.OpenAPISpecHeader>>
): ReadonlyArray<string> => {
  const problems: Array<string> = []
  const known = new Set(general)
  for (const [name, { required, schema }] of Object.entries(described)) {
    known.add(name.toLowerCase())
    const value = headers.get(name)
    if (value === null) {
      if (required) problems.push(`header ${name} is missing`)
    } else {
      problems.push(...JsonSchemas.textProblems(schema, value).map((problem) => `header ${name} ${problem}`))
    }
  }
  for (const name of headers.keys()) if (!known.has(name)) problems.push(`header ${name} is not documented`)
  return problems
}

const responseProblems = (
  exchange: Exchange,
  document: OpenApi.OpenAPISpec,
  { content, headers = {} }: OpenApi.OpenAPISpecResponses[number]
): ReadonlyArray<string> => [
  ...headerProblems(exchange, headers),
  ...(content === undefined || exchange.method === "HEAD"
    ? emptyProblems(exchange)
    : bodyProblems(exchange, document, content))
]

const emptyProblems = ({ body = "" }: Exchange) => body === "" ? [] : ["a body is not documented"]

const bodyProblems = (
  { body, headers }: Exchange,
  document: OpenApi.OpenAPISpec,
  content: OpenApi.OpenApiSpecContent
): ReadonlyArray<string> => {
  const mediaType = mediaTypeOf(headers) ?? "none"
  const schema = content[mediaType]?.schema
  if (schema === undefined) return [`media type ${mediaType} is not documented`]
  if (body === undefined) return []
  if (isJson(mediaType)) return JsonSchemas.jsonProblems(document, schema, body)
  return mediaType === "text/event-stream" ? eventProblems(document, body) : []
}

/**
 * Each event is named `generation`, has the job as its data and the job's status as its id. Comments keep the stream
 * open.
 */
const eventProblems = (document: OpenApi.OpenAPISpec, body: string): ReadonlyArray<string> =>
  body.split("\n\n").flatMap((event) => {
    if (event === "" || event === "retry: 5000" || event.startsWith(":")) return []
    const [, data] = /^id: [a-z]+\nevent: generation\ndata: (.+)$/.exec(event) ?? []
    return data === undefined
      ? [`event ${JSON.stringify(event)} is not documented`]
      : JsonSchemas.jsonProblems(document, { $ref: "#/components/schemas/Generation" }, data)
  })

/** HEAD is allowed wherever GET is. */
const methodsAt = (exchange: Exchange, siblings: ReadonlyArray<Operation>): ReadonlyArray<string> => {
  if (apart.has(pathOf(exchange))) return ["GET", "HEAD"]
  const described = new Set(siblings.map(({ method }) => method))
  return [...described.has("GET") ? described.add("HEAD") : described]
}

/**
 * Problems of an error that no operation describes. A 404 shows the limit of failed authentications; a 405 does so
 * below `/v1` only.
 */
const refusalProblems = (exchange: Exchange, allow?: ReadonlyArray<string>): ReadonlyArray<string> => {
  const isLimited = allow === undefined || pathOf(exchange).startsWith("/v1/")
  const usual = publicDocument.paths[isLimited ? "/v1/models" : "/healthz"]?.get?.responses[200]?.headers
  const headers = allow === undefined ? { ...usual } : { ...usual, Allow: JsonSchemas.listHeader(allow) }
  const schema = JsonSchemas.envelopeOf(allow === undefined ? "not_found" : "method_not_allowed")
  return [
    ...headerProblems(exchange, headers),
    ...(exchange.method === "HEAD"
      ? emptyProblems(exchange)
      : bodyProblems(exchange, publicDocument, { "application/json": { schema } }))
  ]
}
