/**
 * Holds answers against the OpenAPI documents (D49, D50): path, method, status,
 * headers, media type and body. An answer that no operation describes must be the
 * envelope of 404 or of 405, as the documents say of all of them.
 */
import { document as adminDocument } from "@kinora/http-api/AdminOpenApiDocument"
import { document as publicDocument } from "@kinora/http-api/OpenApiDocument"
import type { OpenApi } from "effect/http-api"
import * as JsonSchemas from "./internal/JsonSchemas.ts"

/** What was asked, and what came back. */
export interface Exchange {
  readonly method: string
  /** With or without origin and query. */
  readonly url: string
  readonly status: number
  readonly headers: Headers
  /** As it was sent; `undefined` when nobody looked. */
  readonly body: string | undefined
}

/** Every answer that the documents describe, written `GET /v1/models/{id} 404`. */
export const answers = (): ReadonlyArray<string> =>
  operations.flatMap(({ name, responses }) => Object.keys(responses).map((status) => `${name} ${status}`))

/** Which of `answers` this was; `undefined` for one that no operation describes. */
export const answerOf = (exchange: Exchange): string | undefined => {
  const { operation } = find(exchange)
  return operation?.responses[exchange.status] === undefined ? undefined : `${operation.name} ${exchange.status}`
}

/** What of the answer is not as documented, in sentences; nothing when all is. */
export const problemsOf = (exchange: Exchange): ReadonlyArray<string> => {
  const { operation, siblings } = find(exchange)
  const response = operation?.responses[exchange.status]
  if (operation !== undefined && response !== undefined && !isUnknown(exchange, operation)) {
    const { content, headers = {} } = response
    return [
      ...headerProblems(exchange, headers),
      ...(content === undefined || exchange.method === "HEAD"
        ? emptyProblems(exchange)
        : bodyProblems(exchange, operation.document, content))
    ]
  }
  const methods = operation === undefined ? methodsAt(exchange, siblings) : []
  if (exchange.status === 405 && methods.length > 0) return refusalProblems(exchange, methods)
  if (exchange.status === 404 && siblings.every(isForOperators)) return refusalProblems(exchange)
  return exchange.status === 200 && apart.has(pathOf(exchange)) ? [] : [`status ${exchange.status} is not documented`]
}

/** A `fetch` that rejects answers which are not as documented. Bodies other than JSON are not read. */
export const checking = <Init extends RequestInit>(
  fetch: (url: string, init?: Init) => Promise<Response>
): (url: string, init?: Init) => Promise<Response> =>
async (url, init) => {
  const response = await fetch(url, init)
  const { headers, status } = response
  const method = init?.method ?? "GET"
  const body = isJson(mediaTypeOf(headers)) && method !== "HEAD" ? await response.clone().text() : undefined
  const problems = problemsOf({ method, url, status, headers, body })
  if (problems.length === 0) return response
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
    // What is no percent-encoding is no path either.
    const pattern = new RegExp(`^${template.replace(/\{\w+\}/g, "(?:[^/%]|%[\\da-fA-F]{2})+")}$`)
    return methods.flatMap((name) => {
      const method = name.toUpperCase()
      const responses = item[name]?.responses
      if (responses === undefined) return []
      return [{ name: `${method} ${template}`, method, document, responses, matches: (path) => pattern.test(path) }]
    })
  })

const operations = [...operationsOf(publicDocument), ...operationsOf(adminDocument)]

/** What describes itself, or the interface. */
const apart = new Set(["/openapi.json", "/docs", "/admin/v1/openapi.json"])

/** Headers that are the transport's, or that OpenAPI has another place for. */
const general = new Set([
  "connection",
  "content-length",
  "content-type",
  "date",
  "keep-alive",
  "transfer-encoding",
  "vary"
])

/** A slash at the end changes nothing. */
const pathOf = ({ url }: Pick<Exchange, "url">) => new URL(url, "http://service").pathname.replace(/(?<=.)\/$/, "")

const mediaTypeOf = (headers: Headers) => headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase()

const isJson = (mediaType: string | undefined) => mediaType === "application/json"

/** The operation, and all at its path. Where only GET is described, HEAD is GET without a body (RFC 9110, 9.3.2). */
const find = (exchange: Exchange) => {
  const path = pathOf(exchange)
  const siblings = operations.filter(({ matches }) => matches(path))
  const of = (wanted: string) => siblings.find(({ method }) => method === wanted)
  return { siblings, operation: of(exchange.method) ?? (exchange.method === "HEAD" ? of("GET") : undefined) }
}

const isForOperators = ({ document }: Operation) => document === adminDocument

/** Without a token the interface for operators is as unknown as any path, and shows the limit of those (D50). */
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

/** Every event is named `generation`, has the job as data and its status as id (D39). Comments keep the stream open. */
const eventProblems = (document: OpenApi.OpenAPISpec, body: string): ReadonlyArray<string> =>
  body.split("\n\n").flatMap((event) => {
    if (event === "" || event.startsWith(":")) return []
    const [, data] = /^id: [a-z]+\nevent: generation\ndata: (.+)$/.exec(event) ?? []
    return data === undefined
      ? [`event ${JSON.stringify(event)} is not documented`]
      : JsonSchemas.jsonProblems(document, { $ref: "#/components/schemas/Generation" }, data)
  })

/** HEAD goes wherever GET goes. */
const methodsAt = (exchange: Exchange, siblings: ReadonlyArray<Operation>): ReadonlyArray<string> => {
  if (apart.has(pathOf(exchange))) return ["GET", "HEAD"]
  const described = new Set(siblings.map(({ method }) => method))
  return [...described.has("GET") ? described.add("HEAD") : described]
}

/**
 * The envelope that no operation describes (D42). 404 shows what the address has left
 * of failed authentications, 405 only where the path has a limit (D26).
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
