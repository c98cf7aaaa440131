import { describe, it } from "@effect/vitest"
import * as AdminOpenApiDocument from "@kinora/http-api/AdminOpenApiDocument"
import * as ConsoleOpenApiDocument from "@kinora/http-api/ConsoleOpenApiDocument"
import * as OpenApiDocument from "@kinora/http-api/OpenApiDocument"
import { OperatorRole } from "@kinora/http-api/RequestPolicy"
import * as tables from "./httpApiTables.ts"
import { code, expectTables, rowsOf, type Table } from "./Page.ts"

type Document = typeof OpenApiDocument.document

const methods = ["get", "post", "put", "patch", "delete"] as const

/** The operations of a document, those of one tag if it is given. HEAD follows from GET. */
const operationsOf = ({ paths }: Document, tag?: string): Table => ({
  head: ["operation", "method and path"],
  rows: Object.entries(paths).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const operation = item[method]
      if (operation === undefined || (tag !== undefined && !operation.tags.includes(tag))) return []
      return [[operation.summary ?? "", code(`${method.toUpperCase()} ${path}`)]]
    })
  )
})

const operationsByTag = (document: Document) =>
  Object.fromEntries(document.tags.map(({ name }) => [name, operationsOf(document, name)]))

const roles: Table = {
  head: ["role", "permits"],
  rows: rowsOf(OperatorRole.literals, {
    auditor: "all reads, the audit log and `verify` included, except the bodies of webhook deliveries",
    support:
      "also: [view](console-api.md#view-an-account) an account, cancel a job, read and resend deliveries, disable a webhook " +
      "endpoint, suspend and resume an account",
    operator: "also: everything else except changes, sign-in links and sessions of operators",
    owner: "everything"
  })
}

describe("docs/reference", () => {
  it.effect("lists every operation of the HTTP API, its objects and their values", () =>
    expectTables("reference/http-api.md", { ...tables, operations: operationsOf(OpenApiDocument.document) }))

  it.effect("lists every operation of the operator API, and the roles of operators", () =>
    expectTables("reference/operator-api.md", { ...operationsByTag(AdminOpenApiDocument.document), roles }))

  it.effect("lists every operation of the console API", () =>
    expectTables("reference/console-api.md", operationsByTag(ConsoleOpenApiDocument.document)))
})
