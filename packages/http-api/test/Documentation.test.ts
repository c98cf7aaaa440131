import { assert, describe, it } from "@effect/vitest"
import { Ajv2020 } from "ajv/dist/2020.js"
import * as Admin from "../src/AdminOpenApiDocument.ts"
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

describe.each([
  ["openapi.json", document],
  ["admin-openapi.json", Admin.document],
  ["console-openapi.json", Console.document]
])("%s", (_, spec) => {
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

  it("shows an example of every id, secret and time in a property or a parameter", () => {
    const missing = [...nodesOf(spec)].filter(([path, node]) => {
      const schema = isNode(node["schema"]) ? node["schema"] : node
      const isPlain = schema["type"] === "string" || Array.isArray(schema["anyOf"])
      const isTime = /"format":"date-time"/.test(JSON.stringify(schema))
      return /\/(properties|parameters)\/[^/]+$/.test(path) && isPlain && !("pattern" in schema) &&
        (isTime || /`[a-z]+_…`/.test(String(node["description"]))) && !("examples" in schema)
    })
    assert.deepStrictEqual(missing.map(([path]) => path), [])
  })
})
