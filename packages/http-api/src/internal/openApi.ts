/**
 * Completes the OpenAPI document of `Api` with what concerns single operations and cannot
 * be generated: event streams, forms, partial content, HEAD, and webhooks.
 */
import type { OpenApi } from "effect/http-api"
import { addBodyExamples } from "./bodyExamples.ts"
import { addExamples } from "./examples.ts"
import { constant, header, int64, text } from "./headers.ts"
import { simplify } from "./simplify.ts"
import { webhooks } from "./webhooks.ts"

/** Completes the document. Changes it in place. */
export const complete = (spec: OpenApi.OpenAPISpec): OpenApi.OpenAPISpec => {
  for (const [path, item] of Object.entries(spec.paths)) {
    for (const operation of [item.get, item.post]) {
      if (operation !== undefined) completeStreams(operation)
    }
    if (item.get?.tags.includes("content") === true) {
      addPartialContent(item.get, path.endsWith("/content") ? resultTypes : ["image/webp"])
      item.head = headOf(item.get)
    }
  }
  addEventHeaders(spec.paths["/v1/generations/{id}/events"]?.get)
  addForm(spec.paths["/v1/uploads"]?.post)
  // The generator's type of the document does not have webhooks.
  Object.assign(spec, { webhooks: webhooks() })
  spec.tags.push({ name: "webhooks", description: "Events that the service sends to an account's webhook endpoints." })
  return finish(spec)
}

/** Completes the document of `AdminApi`, and that of `ConsoleApi`. Changes it in place. */
export const completeAdmin = (spec: OpenApi.OpenAPISpec): OpenApi.OpenAPISpec => {
  for (const { get } of Object.values(spec.paths)) if (get !== undefined) completeStreams(get)
  return finish(spec)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const finish = (spec: OpenApi.OpenAPISpec): OpenApi.OpenAPISpec => {
  nameSchemes(spec)
  simplify(spec)
  dropUnused(spec)
  addExamples(spec)
  addBodyExamples(spec)
  return spec
}

/** Writes authentication schemes in lower case. Some readers do not recognize `Bearer`, and show another scheme. */
const nameSchemes = ({ components }: OpenApi.OpenAPISpec): void => {
  for (const scheme of Object.values(components.securitySchemes)) {
    if (scheme.type === "http") Object.assign(scheme, { scheme: scheme.scheme.toLowerCase() })
  }
}

/** Describes event streams for readers of the stream, not for Effect's client. */
const completeStreams = ({ requestBody, responses }: OpenApi.OpenAPISpecOperation): void => {
  const contents = [requestBody?.content, ...Object.values(responses).map(({ content }) => content)]
  for (const [mediaType, body] of contents.flatMap((content) => Object.entries(content ?? {}))) {
    if (mediaType === "text/event-stream") {
      body.schema = {
        type: "string",
        description:
          "Server-sent events named `generation`. `data` is a `Generation` as JSON on one line; `id` is its " +
          "status. Lines that begin with a colon are comments that keep the connection open."
      }
    }
    delete body["x-effect-stream"]
  }
}

/** Adds the form as the other encoding of an upload. */
const addForm = (operation: OpenApi.OpenAPISpecOperation | undefined): void => {
  if (operation?.requestBody === undefined) return
  operation.requestBody.content["multipart/form-data"] = {
    schema: {
      type: "object",
      properties: { file: { type: "string", format: "binary", description: "The image file." } },
      required: ["file"]
    }
  }
}

/** Removes the schemas that nothing refers to, repeatedly, since they refer to each other. */
const dropUnused = (spec: OpenApi.OpenAPISpec): void => {
  const { schemas } = spec.components
  for (let unused = [""]; unused.length > 0;) {
    const used = referencedSchemas(spec)
    unused = Object.keys(schemas).filter((name) => !used.has(name))
    for (const name of unused) delete schemas[name]
  }
}

const referencedSchemas = (spec: OpenApi.OpenAPISpec): ReadonlySet<string | undefined> =>
  new Set(Array.from(JSON.stringify(spec).matchAll(/"#\/components\/schemas\/([^"]+)"/g), ([, name]) => name))

/** Headers of 304 too: what browsers may do with a file, and how long a copy stays valid. */
const validityHeaders = {
  "ETag": header("A strong validator of the file.", text),
  "Last-Modified": header("When the result was stored.", text),
  "Cache-Control": header("`private`, until the result or the URL expires.", text),
  "Access-Control-Allow-Origin": header("Always `*`.", constant("*")),
  "Access-Control-Expose-Headers": header("The headers that pages of other origins may read.", text),
  "Cross-Origin-Resource-Policy": header("Always `cross-origin`.", constant("cross-origin"))
}

const fileHeaders = {
  ...validityHeaders,
  "Accept-Ranges": header("Always `bytes`.", constant("bytes")),
  "Content-Length": header("Size of the body in bytes; for HEAD, of the whole file.", int64),
  "Content-Disposition": header("`inline`, or `attachment` with `download=1`, and a file name.", text),
  "X-Content-Type-Options": header("Always `nosniff`.", constant("nosniff"))
}

/** The media types of results. */
const resultTypes = ["image/png", "image/jpeg", "image/webp", "video/mp4", "video/webm"]

const addPartialContent = (operation: OpenApi.OpenAPISpecOperation, mediaTypes: ReadonlyArray<string>): void => {
  const bytes = { schema: { type: "string", format: "binary" } } as const
  const content = Object.fromEntries(mediaTypes.map((mediaType) => [mediaType, bytes]))
  const common = operation.responses[200]?.headers ?? {}
  operation.responses[200] = { description: "The whole file.", content, headers: { ...fileHeaders, ...common } }
  operation.responses[206] = {
    description: "The requested range of the file.",
    content,
    headers: { ...fileHeaders, "Content-Range": header("`bytes <first>-<last>/<size>`.", text), ...common }
  }
  operation.responses[304] = {
    description: "The caller's copy is current.",
    headers: { ...validityHeaders, ...common }
  }
}

/** The headers that keep proxies from buffering the stream. */
const addEventHeaders = (operation: OpenApi.OpenAPISpecOperation | undefined): void => {
  if (operation === undefined) return
  operation.responses[204] = {
    description: "`Last-Event-ID` names the final state: nothing follows.",
    headers: { ...operation.responses[200]?.headers }
  }
  operation.parameters.push({
    name: "Last-Event-ID",
    in: "header",
    schema: text,
    required: false,
    description: "The id of the last event that the client has."
  })
  Object.assign(operation.responses[200]?.headers ?? {}, {
    "Cache-Control": header("Always `no-cache`.", constant("no-cache")),
    "X-Accel-Buffering": header("Always `no`.", constant("no"))
  })
}

/** HEAD has the checks and headers of GET, ignores `Range`, and returns no body. */
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
