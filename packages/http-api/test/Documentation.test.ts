import { assert, describe, it } from "@effect/vitest"
import { Ajv2020 } from "ajv/dist/2020.js"
import { Schema } from "effect"
import { HttpApi, type HttpApiGroup } from "effect/http-api"
import { AdminApi } from "../src/AdminApi.ts"
import * as Admin from "../src/AdminOpenApiDocument.ts"
import { Api } from "../src/Api.ts"
import { ConsoleApi } from "../src/ConsoleApi.ts"
import * as Console from "../src/ConsoleOpenApiDocument.ts"
import { document } from "../src/OpenApiDocument.ts"

type Node = Readonly<Record<string, unknown>>

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && !Array.isArray(value)

/** Every object of a document with its path. */
const nodesOf = function*(value: unknown, path = "#"): Generator<readonly [path: string, node: Node]> {
  if (isNode(value)) yield [path, value]
  if (typeof value !== "object" || value === null) return
  for (const [key, child] of Object.entries(value)) yield* nodesOf(child, `${path}/${key}`)
}

/** Paths of properties, parameters, headers, operations and responses without a description. */
const undescribed = (spec: unknown): ReadonlyArray<string> => {
  const found: Array<string> = []
  const check = (path: string, node: unknown, ...keys: ReadonlyArray<string>) => {
    for (const key of keys) {
      if (!isNode(node) || typeof node[key] !== "string" || node[key] === "") found.push(`${path} ${key}`)
    }
  }
  for (const [path, node] of nodesOf(spec)) {
    if (isNode(node["properties"]) && !path.endsWith("/properties")) {
      for (const [name, property] of Object.entries(node["properties"])) {
        check(`${path}.${name}`, property, "description")
      }
    }
    if (isNode(node["responses"])) {
      check(path, node, "summary", "description", "operationId")
      for (const [status, response] of Object.entries(node["responses"])) {
        check(`${path} ${status}`, response, "description")
      }
    }
    if (typeof node["in"] === "string" && isNode(node["schema"])) check(path, node, "description")
    if (isNode(node["headers"]) && "description" in node) {
      for (const [name, header] of Object.entries(node["headers"])) check(`${path} ${name}`, header, "description")
    }
  }
  return found
}

/** Paths of bodies in JSON, and what they contain. */
const bodiesOf = (spec: unknown) =>
  [...nodesOf(spec)].flatMap(([path, node]) => {
    const body = isNode(node["content"]) ? node["content"]["application/json"] : undefined
    return isNode(body) ? [[path, body] as const] : []
  })

/** Whether a property or a parameter has one of many values, so that an example adds something to the schema. */
const needsExample = (schema: Node): boolean => {
  if ("enum" in schema || "const" in schema || "$ref" in schema || schema["format"] === "binary") return false
  if (schema["type"] === "array") return isNode(schema["items"]) && needsExample(schema["items"])
  if (!Array.isArray(schema["anyOf"])) return schema["type"] === "string" || schema["type"] === "integer"
  const others = schema["anyOf"].filter((one: unknown) => isNode(one) && one["type"] !== "null")
  return others.length === 1 && others.every(needsExample)
}

/** Decoders of the JSON bodies of an API by the id of the operation. */
const decodersOf = <Id extends string, Groups extends HttpApiGroup.Constraint>(api: HttpApi.HttpApi<Id, Groups>) => {
  const found = new Map<string, (body: unknown) => unknown>()
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, group }) => {
      const [schema] = endpoint.payload.get("application/json")?.schemas ?? []
      if (schema === undefined) return
      const decode = Schema.decodeUnknownSync(Schema.make<Schema.Decoder<unknown>>(schema.ast), {
        onExcessProperty: "error"
      })
      found.set(`${group.identifier}.${endpoint.identifier}`, decode)
    }
  })
  return found
}

describe.each([
  ["openapi.json", document, decodersOf(Api)],
  ["admin-openapi.json", Admin.document, decodersOf(AdminApi)],
  ["console-openapi.json", Console.document, decodersOf(ConsoleApi)]
])("%s", (_, spec, decoders) => {
  it("describes every property, parameter, header, operation and response", () => {
    assert.deepStrictEqual(undescribed(spec), [])
  })

  it("has examples that their schemas accept", () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    ajv.addSchema({ $id: "document", ...spec })
    const examples = [...nodesOf(spec)].filter(([, node]) => Array.isArray(node["examples"]))
    assert.isAtLeast(examples.length, 50)
    for (const [path, schema] of examples) {
      const text = JSON.stringify(schema).replaceAll("\"#/components", "\"document#/components")
      for (const example of schema["examples"] as ReadonlyArray<unknown>) {
        assert.isTrue(ajv.validate(JSON.parse(text), example), `${path}: ${JSON.stringify(example)}`)
      }
    }
  })

  it("has an example of every property and parameter whose values its schema does not list", () => {
    const missing = [...nodesOf(spec)].filter(([path, node]) => {
      const schema = isNode(node["schema"]) ? node["schema"] : node
      return /\/(properties|parameters)\/[^/]+$/.test(path) && needsExample(schema) && !("examples" in schema)
    })
    assert.deepStrictEqual(missing.map(([path]) => path), [])
  })

  it("has an example of every body and error, which its schema accepts", () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    ajv.addSchema({ $id: "document", ...spec })
    const bodies = bodiesOf(spec).filter(([path]) => /^#\/paths\/.*\/(requestBody|responses\/2\d\d)$/.test(path))
    assert.isAtLeast(bodies.length, 10)
    for (const [path, { example, schema }] of bodies) {
      const text = JSON.stringify(schema).replaceAll("\"#/components", "\"document#/components")
      assert.isTrue(ajv.validate(JSON.parse(text), example), `${path}: ${JSON.stringify(example)} ${ajv.errorsText()}`)
    }
    const errors = Object.entries(spec.components.schemas).filter(([name]) =>
      JSON.stringify(spec.paths).includes(`/${name}"`) && name.endsWith("Error")
    )
    assert.deepStrictEqual(errors.filter(([, schema]) => !("examples" in schema)).map(([name]) => name), [])
  })

  it("has examples of requests that the service accepts", () => {
    let count = 0
    for (const item of Object.values(spec.paths)) {
      for (const operation of [item.post, item.put, item.patch]) {
        const body: unknown = operation?.requestBody?.content["application/json"]
        if (operation === undefined || !isNode(body)) continue
        const decode = decoders.get(operation.operationId)
        assert.doesNotThrow(() => decode?.(body["example"]), undefined, operation.operationId)
        assert.isDefined(decode, operation.operationId)
        count++
      }
    }
    assert.isAtLeast(count, 2)
  })

  it("describes responses in sentences", () => {
    for (const item of Object.values(spec.paths)) {
      for (const operation of [item.get, item.post, item.put, item.patch, item.delete]) {
        for (const { description } of Object.values(operation?.responses ?? {})) assert.match(description, /\.$/)
      }
    }
  })
})
