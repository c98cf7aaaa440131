import { assert, describe, it } from "@effect/vitest"
import { AdminOpenApiDocument, ConsoleOpenApiDocument, ErrorCode, OpenApiDocument } from "@kinora/http-api"
import { Effect } from "effect"
import { code, expectTables, read } from "./Page.ts"

/** The part of an error's schema that the tables use. */
interface ErrorSchema {
  readonly properties?: {
    readonly code?: { readonly enum?: ReadonlyArray<string> }
    readonly details?: { readonly properties?: Readonly<Record<string, DetailSchema>> }
  }
}

interface DetailSchema {
  readonly description: string
  readonly enum?: ReadonlyArray<string>
}

/** Formats a property with its allowed values and its description. */
const detail = ([name, { description, enum: values = [] }]: readonly [string, DetailSchema]) =>
  `${code(name)}${values.length === 0 ? "" : ` (${values.map(code).join(", ")})`}: ${description}`

/** The properties of `details` with their descriptions, by code. */
const details: ReadonlyMap<string, string> = new Map(
  [OpenApiDocument.document, AdminOpenApiDocument.document, ConsoleOpenApiDocument.document].flatMap(({ components }) =>
    Object.values(components.schemas as Readonly<Record<string, ErrorSchema>>).flatMap(({ properties }) =>
      (properties?.code?.enum ?? []).map((name): [string, string] => [
        name,
        Object.entries(properties?.details?.properties ?? {}).map(detail).join(" ")
      ])
    )
  )
)

const rowsOf = (table: Readonly<Record<string, ErrorCode.ErrorDefinition>>) =>
  Object.entries(table).map(([name, { message, retry, status }]) => [
    String(status),
    code(name),
    message,
    retry === undefined ? "no" : "yes",
    details.get(name) ?? ""
  ])

describe("docs/reference/errors.md", () => {
  it.effect("lists every code", () => {
    const head = ["status", "code", "message", "retry", "details"]
    return expectTables("reference/errors.md", {
      codes: { head, rows: rowsOf(ErrorCode.table) },
      operatorCodes: { head, rows: rowsOf(ErrorCode.operatorTable) },
      consoleCodes: { head, rows: rowsOf(ErrorCode.consoleTable) }
    })
  })
})

describe("docs/reference", () => {
  const definitions: Readonly<Record<string, ErrorCode.ErrorDefinition>> = {
    ...ErrorCode.table,
    ...ErrorCode.operatorTable,
    ...ErrorCode.consoleTable
  }

  for (const page of ["http-api", "operator-api", "console-api", "limits", "webhooks"]) {
    it.effect(`pairs every code with its status (${page}.md)`, () =>
      Effect.gen(function*() {
        const pairs = Array.from((yield* read(`reference/${page}.md`)).matchAll(/\b([45]\d{2}) `(\w+)`/g))
        assert.isAbove(pairs.length, 0)
        for (const [text, status, code = ""] of pairs) {
          assert.strictEqual(definitions[code]?.status, Number(status), text)
        }
      }))
  }
})
