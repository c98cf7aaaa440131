/** Operations of the API, read from its OpenAPI document, so that tests cover every endpoint. */
import { Option, Schema } from "effect"

/** A JSON schema. Only the keywords that tests use are interpreted. */
export interface JsonSchema {
  readonly [keyword: string]: unknown
}

/** A parameter in the path, the query or the headers. */
export interface Parameter {
  readonly in: "path" | "query" | "header"
  readonly name: string
  readonly schema: JsonSchema
}

/** A method of a path. */
export interface Operation {
  readonly id: string
  /** In capital letters. */
  readonly method: string
  /** With parameters in braces: `/v1/generations/{id}`. */
  readonly path: string
  readonly parameters: ReadonlyArray<Parameter>
  /** Accepted kinds of bodies. */
  readonly bodies: ReadonlyArray<{ readonly mime: string; readonly schema: JsonSchema }>
  /** Every status that the document describes. */
  readonly statuses: ReadonlyArray<number>
  /** Whether it requires authentication. */
  readonly isSecured: boolean
}

/** The operations of a document, with references in their schemas resolved. Throws if it is not a document. */
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

/** The path with its parameters replaced, without encoding. */
export const fill = ({ path }: Operation, values: Readonly<Record<string, string>>): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? "")

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Deeper than any body of the API. */
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
