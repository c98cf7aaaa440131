import { assert, describe, it } from "@effect/vitest"
import { FailureCode } from "@kinora/generations/Generation"
import { AdminError, ErrorCode } from "@kinora/http-api"
import { Effect } from "effect"
import { code, expectTables, read } from "./Page.ts"

/** The properties of `details`. */
const details: Readonly<Partial<Record<ErrorCode.ErrorCode | AdminError.AdminConflictCode, string>>> = {
  invalid_request: "`issues`: every problem, each with `path` and `message`",
  invalid_params: "`issues`: every problem, each with `path` and `message`",
  invalid_image: "`index` in `params.images`; absent for `/v1/uploads`",
  plan_required: "`model`",
  model_not_in_plan: "`model`",
  model_kind_mismatch: "`model`",
  quota_exceeded: "`quota_kind`: `image` or `video`; `resets_at`: the next 00:00 UTC",
  insufficient_credits: "`required` and `available` credits",
  model_not_found: "`model`",
  upload_not_found: "`index` in `params.images`; absent for `/v1/uploads`",
  result_not_found: "`status` of the job",
  not_cancellable: "`status` of the job",
  result_not_ready: "`status` of the job",
  result_expired: "`expired_at`",
  range_not_satisfiable: "`bytes`: size of the file",
  generation_failed: "`generation_id`, `reason`",
  content_rejected: "`generation_id`, `reason`",
  rate_limited: "`scope`: `key`, `plan`, `auth` or `uploads`",
  queue_full: "`waiting_max`",
  download_limited: "`scope`: `streams`, `bytes` or `downloads`",
  model_unavailable: "`model`",
  unavailable: "`not_ready`: names of what is not ready; at `/readyz` only",
  generation_pending: "`generation_id`",
  too_many_endpoints: "`endpoints_max`",
  too_many_keys: "`keys_max`",
  too_many_secrets: "`secrets_max`"
}

const rowsOf = (names: ReadonlyArray<keyof typeof details>, row: (name: string) => ReadonlyArray<string>) =>
  names.map((name) => [...row(name), details[name] ?? ""])

describe("docs/reference/errors.md", () => {
  it.effect("lists every code", () => {
    const table: Readonly<Record<string, ErrorCode.ErrorCodeEntry>> = ErrorCode.table
    const messages: Readonly<Record<string, string>> = AdminError.table
    return expectTables("reference/errors.md", {
      codes: {
        head: ["status", "code", "message", "retry", "details"],
        rows: rowsOf(Object.keys(table) as Array<ErrorCode.ErrorCode>, (name) => {
          const { message, retryable, status } = table[name]!
          return [String(status), code(name), message, retryable ? "yes" : "no"]
        })
      },
      operatorCodes: {
        head: ["status", "code", "message", "details"],
        rows: [
          [
            "400",
            code("invalid_webhook_url"),
            "describes what is wrong with the URL",
            `\`problem\`: ${AdminError.UrlProblem.literals.map(code).join(", ")}`
          ],
          ...rowsOf(
            Object.keys(messages) as Array<AdminError.AdminConflictCode>,
            (name) => ["409", code(name), messages[name]!]
          )
        ]
      }
    })
  })
})

describe("docs/reference/http-api.md", () => {
  it.effect("lists every code of a failed job", () =>
    Effect.gen(function*() {
      const [table = ""] = /^\| `error\.code`.*?\n\n/ms.exec(yield* read("reference/http-api.md")) ?? []
      const names = Array.from(table.matchAll(/^\| `(\w+)`/gm), ([, name = ""]) => name)
      assert.sameMembers(names, [...FailureCode.literals])
    }))
})
