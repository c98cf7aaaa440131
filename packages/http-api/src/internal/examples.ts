/** Examples of properties and parameters in an OpenAPI document: ids, times, URLs and values that a description cannot show. */
import type { OpenApi } from "effect/http-api"
import { chosen, ids, integers, texts, time } from "./exampleValues.ts"

/** Adds an example to every property and parameter whose schema does not list its values. Changes the document in place. */
export const addExamples = (spec: OpenApi.OpenAPISpec): void => {
  for (const [name, schema] of Object.entries(spec.components.schemas)) visit(schema, name)
  for (const [path, item] of Object.entries(spec.paths)) {
    visit(item, /\/([^/]+)\/\{(?:id|provider)\}/.exec(path)?.[1] ?? "")
  }
  visit(spec, "")
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** `owner` is the component, or the collection in the path. */
const visit = (node: unknown, owner: string): void => {
  if (typeof node !== "object" || node === null) return
  if ("properties" in node && isRecord(node.properties)) {
    for (const [name, schema] of Object.entries(node.properties)) {
      Object.assign(node.properties, { [name]: withExample(owner, name, schema, schema) })
    }
  }
  if ("in" in node && "name" in node && "schema" in node) {
    Object.assign(node, { schema: withExample(owner, String(node.name), node.schema, node) })
  }
  for (const child of Object.values(node)) visit(child, owner)
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Returns a copy, because operations share schemas of parameters. */
const withExample = (owner: string, name: string, schema: unknown, described: unknown): unknown => {
  if (!isRecord(schema) || "enum" in schema || "const" in schema || "examples" in schema) return schema
  const example = chosen[`${owner}.${name}`] ??
    exampleOf(name, schema, isRecord(described) ? described["description"] : undefined)
  return example === undefined ? schema : { ...schema, examples: [example] }
}

const exampleOf = (name: string, schema: Readonly<Record<string, unknown>>, description: unknown) => {
  const type = typeOf(schema)
  if (type?.format === "date-time") return time
  if (type?.type === "integer") return integers[name]
  if (type?.type === "array") return exampleOfItems(name, type)
  if (type?.type !== "string") return
  const prefix = typeof description === "string" ? /`([a-z]+_)…`/.exec(description)?.[1] : undefined
  return ids[prefix ?? ""] ?? texts[name]
}

/** An example of a list of texts. Lists of objects show those of the objects. */
const exampleOfItems = (name: string, { items }: Readonly<Record<string, unknown>>) =>
  isRecord(items) && items["type"] === "string" && !("enum" in items) && texts[name] !== undefined
    ? [texts[name]]
    : undefined

/** The schema without the alternative `null`. `undefined` if it has several, or is a reference. */
const typeOf = (schema: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> | undefined => {
  if (!Array.isArray(schema["anyOf"])) return schema
  const others = schema["anyOf"].filter((one: unknown) => !isRecord(one) || one["type"] !== "null")
  return others.length === 1 && isRecord(others[0]) && !("enum" in others[0]) ? others[0] : undefined
}
