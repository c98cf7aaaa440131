import { assert, describe, it } from "@effect/vitest"
import { FailureCode } from "@kinora/generations/Generation"
import { AdminError, ErrorCode } from "@kinora/http-api"
import { Effect } from "effect"
import { readFile } from "node:fs/promises"
import { code, rowsBelow } from "./MarkdownTable.ts"

const document = Effect.promise(() => readFile(new URL("../../../docs/reference/errors.md", import.meta.url), "utf8"))

describe("docs/reference/errors.md", () => {
  it.effect("lists every code with its status, what it says, and whether to try again (D40)", () =>
    Effect.gen(function*() {
      const rows = rowsBelow(yield* document, "## Codes")
      assert.deepStrictEqual(
        rows.map(([status, name, message, , again]) => [status, name, message, again]),
        Object.entries(ErrorCode.table).map(([name, { message, retryable, status }]) => [
          String(status),
          code(name),
          message,
          retryable ? "yes" : "no"
        ])
      )
      assert.isEmpty(rows.filter(([, , , whatToDo]) => whatToDo === ""))
    }))

  it.effect("lists what only operators are refused, with what it says", () =>
    Effect.gen(function*() {
      const [url, ...conflicts] = rowsBelow(yield* document, "## Codes for operators")
      assert.deepStrictEqual(
        conflicts.map(([status, name, message]) => [status, name, message]),
        Object.entries(AdminError.table).map(([name, message]) => ["409", code(name), message])
      )
      assert.deepStrictEqual(url?.slice(0, 2), ["400", code("invalid_webhook_url")])
      const problems = Array.from(url?.at(-1)?.matchAll(/`(\w+)`/g) ?? [], ([, name]) => name)
      assert.deepStrictEqual(problems, ["problem", ...AdminError.UrlProblem.literals])
    }))

  it.effect("lists why jobs fail (D12)", () =>
    Effect.gen(function*() {
      const [, list = ""] = (yield* document).match(/The codes there are (.+?)\./) ?? []
      const names = Array.from(list.matchAll(/`(\w+)`/g), ([, name]) => name)
      assert.deepStrictEqual(new Set(names), new Set<string>(FailureCode.literals))
    }))
})
