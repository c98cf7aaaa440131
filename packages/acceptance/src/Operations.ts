/** What a service can be asked, read from its OpenAPI document, so that no endpoint can be forgotten. */
import { Option, Schema } from "effect"

/** A JSON schema, of which only what is looked at is known. */
export interface JsonSchema {
  readonly [keyword: string]: unknown
}

/** A value that goes into the path, the query or the headers. */
export interface Parameter {
  readonly in: "path" | "query" | "header"
  readonly name: string
  readonly schema: JsonSchema
}

/** One method of one path. */
export interface Operation {
  readonly id: string
  /** In capitals. */
  readonly method: string
  /** With its parameters in braces: `/v1/generations/{id}`. */
  readonly path: string
  readonly parameters: ReadonlyArray<Parameter>
  /** The kinds of bodies that it takes. */
  readonly bodies: ReadonlyArray<{ readonly mime: string; readonly schema: JsonSchema }>
  /** Every status that it says it can answer with. */
  readonly statuses: ReadonlyArray<number>
  /** Whether it asks who is there. */
  readonly isSecured: boolean
}

/** The operations of a document, and its schemas without references. A document that is none is a defect. */
export const read = (document: unknown): ReadonlyArray<Operation> => {
  const { components, paths } = decode(document)
  const resolve = (schema: JsonSchema, depth = 0): JsonSchema => {
    const reference = typeof schema["$ref"] === "string" ? schema["$ref"].split("/").at(-1) : undefined
    if (reference !== undefined) return resolve(components.schemas[reference] ?? {}, depth)
    return depth > depthMax ? {} : Object.fromEntries(
      Object.entries(schema).map(([keyword, value]) => [keyword, resolveInside(value, depth + 1)])
    )
  }
  const resolveInside = (value: unknown, depth: number): unknown =>
    Array.isArray(value)
      ? value.map((one: unknown) => resolveInside(one, depth))
      : typeof value === "object" && value !== null
      ? resolve({ ...value }, depth)
      : value

  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Operation => ({
      id: operation.operationId,
      method: method.toUpperCase(),
      path,
      parameters: (operation.parameters ?? []).map(({ in: place, name, schema }) => ({
        in: place,
        name,
        schema: resolve(schema)
      })),
      bodies: Object.entries(operation.requestBody?.content ?? {}).map(([mime, { schema }]) => ({
        mime,
        schema: resolve(schema)
      })),
      statuses: Object.keys(operation.responses).map(Number),
      isSecured: (operation.security ?? []).length > 0
    }))
  )
}

/** The path with its parameters filled in, as they are. */
export const fill = ({ path }: Operation, values: Readonly<Record<string, string>>): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? "")

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** No body of the interface has as many levels. */
const depthMax = 20

const SchemaObject = Schema.Record(Schema.String, Schema.Unknown)

const Document = Schema.Struct({
  paths: Schema.Record(
    Schema.String,
    Schema.Record(
      Schema.String,
      Schema.Struct({
        operationId: Schema.String,
        parameters: Schema.optionalKey(Schema.Array(Schema.Struct({
          in: Schema.Literals(["path", "query", "header"]),
          name: Schema.String,
          schema: SchemaObject
        }))),
        requestBody: Schema.optionalKey(Schema.Struct({
          content: Schema.Record(Schema.String, Schema.Struct({ schema: SchemaObject }))
        })),
        responses: Schema.Record(Schema.String, Schema.Unknown),
        security: Schema.optionalKey(Schema.Array(Schema.Unknown))
      })
    )
  ),
  components: Schema.Struct({ schemas: Schema.Record(Schema.String, SchemaObject) })
})

const decode = (document: unknown) => Option.getOrThrow(Schema.decodeUnknownOption(Document)(document))
