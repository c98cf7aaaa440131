/** Examples of bodies in an OpenAPI document, composed of those of their properties. */
import type { OpenApi } from "effect/http-api"
import * as values from "./exampleValues.ts"
import { jobExample } from "./jobExamples.ts"

/**
 * Adds an example to every JSON body of a request and of a success, to every error, and to the events of webhooks. Changes
 * the document in place.
 */
export const addBodyExamples = (spec: OpenApi.OpenAPISpec): void => {
  const { schemas } = spec.components
  const compose = composing(schemas)
  for (const [name, schema] of Object.entries(schemas)) {
    if (isError(schema) || webhooks.has(name)) Object.assign(schema, { examples: [compose(schema, name)] })
  }
  for (const item of Object.values(spec.paths)) {
    for (const operation of [item.get, item.post, item.put, item.patch, item.delete]) {
      if (operation === undefined) continue
      const request = operation.requestBody?.content["application/json"]
      if (request !== undefined) Object.assign(request, { example: compose(request.schema, "") })
      for (const [status, { content }] of Object.entries(operation.responses)) {
        const body = content?.["application/json"]
        if (body === undefined || Number(status) >= 300) continue
        Object.assign(body, { example: jobExample(operation.operationId, status, compose(body.schema, "")) })
      }
    }
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Node = Readonly<Record<string, unknown>>

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && !Array.isArray(value)

/** The bodies of webhooks, of which several have the same schema. */
const webhooks = new Set(["WebhookEvent", "WebhookTest"])

/** Whether the schema is that of an error: its `code` has one value. */
const isError = (schema: object): schema is Node =>
  "properties" in schema && isNode(schema.properties) && isNode(schema.properties["code"]) &&
  ("const" in schema.properties["code"] || Array.isArray(schema.properties["code"]["enum"]))

/** Returns a function that composes an example of a schema. `owner` is the name of the component that it belongs to. */
const composing = (schemas: object) => {
  const compose = (schema: unknown, owner: string, name = ""): unknown => {
    if (!isNode(schema)) return undefined
    if (nulls.has(name) && isNullable(schema)) return null
    if (name === "message" && owner.endsWith("Error")) return described(schemas, owner)
    if (Array.isArray(schema["examples"])) return schema["examples"][0]
    if ("const" in schema) return schema["const"]
    if (Array.isArray(schema["enum"])) return preferred(name, schema["enum"])
    if (typeof schema["$ref"] === "string") {
      const referred = schema["$ref"].slice("#/components/schemas/".length)
      return compose(Object.entries(schemas).find(([key]) => key === referred)?.[1], referred)
    }
    const [first] = ["anyOf", "oneOf", "allOf"].flatMap((key) => Array.isArray(schema[key]) ? schema[key] : [])
    if (first !== undefined && schema["type"] === undefined) return compose(first, owner, name)
    switch (schema["type"]) {
      case "boolean":
        return flags.has(name)
      case "array": {
        const item = compose(schema["items"], owner, name)
        return item === undefined ? [] : [item]
      }
      case "object":
        return Object.fromEntries(
          Object.entries(isNode(schema["properties"]) ? schema["properties"] : {})
            .filter(([key]) => !absent.has(`${owner}.${key}`))
            .map(([key, property]) => [key, compose(property, owner, key)])
        )
      case "null":
        return null
      case "integer":
        return values.integers[name]
      default:
        return values.texts[name]
    }
  }
  return compose
}

const isNullable = (schema: Node): boolean =>
  Array.isArray(schema["anyOf"]) && schema["anyOf"].some((one: unknown) => isNode(one) && one["type"] === "null")

const described = (schemas: object, owner: string): unknown =>
  Object.entries(schemas).flatMap(([key, { description }]) => key === owner ? [description] : [])[0]

/** Examples are about the same completed job, which was paid with credits. */
const preferred = (name: string, options: ReadonlyArray<unknown>): unknown =>
  options.find((one) =>
    one === "completed" || one === "generation.completed" || (name === "plan" && one === "credits")
  ) ?? options[0]

/** Properties that are `null` in examples, if they can be. */
const nulls = new Set([
  "deleted_at",
  "erases_at",
  "error",
  "error_code",
  "next_cursor",
  "poster_url",
  "quota_kind",
  "reverses",
  "revoked_at",
  "suspended_at"
])

/** Properties that are `true` in examples. */
const flags = new Set(["active", "auto_renew", "balanced", "current", "studio_eligible"])

/** Properties that examples do not have, because others exclude them. */
const absent = new Set([
  "AdminGeneration.next",
  "Generation.next",
  "ImageData.b64_json",
  "InputImage.data",
  "InputImage.mime",
  "Params.duration",
  "Params.images",
  "PublicParams.duration",
  "PublicParams.images",
  "PublicSchemaParam.values"
])
