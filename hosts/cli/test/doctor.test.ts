import { assert, it } from "@effect/vitest"
import { Effect, Option, Redacted } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { checkService } from "../src/doctor/service.ts"

/** Checks a service that responds to these paths; it has no others. Returns the status and the detail of each check. */
const check = Effect.fnUntraced(function*(paths: Readonly<Record<string, number>>, url = "https://kinora.example") {
  const client = HttpClient.make((request, { hash, pathname, search }) =>
    Effect.succeed(
      HttpClientResponse.fromWeb(request, new Response("{}", { status: paths[`${pathname}${search}${hash}`] ?? 404 }))
    )
  )
  const adminToken = Option.some(Redacted.make("the token"))
  const connection = { url, adminUrl: url, adminToken, apiKey: Option.none() }
  const findings = yield* Effect.provideService(checkService(connection, undefined), HttpClient.HttpClient, client)
  return Object.fromEntries(findings.map(({ check, detail, status }) => [check, [status, detail]]))
})

const healthy = { "/healthz": 200, "/readyz": 200, "/admin/v1/accounts?limit=1": 200 }

it.effect("names the paths for operators that everybody reaches, in any spelling", () =>
  Effect.gen(function*() {
    const open = yield* check({ ...healthy, "/readyz": 404, "//metrics": 200, "/ad%6din/v1/accounts": 401 })
    assert.deepStrictEqual(open["hidden paths"], [
      "failure",
      "everybody reaches //metrics (200), /ad%6din/v1/accounts (401)"
    ])
    const closed = yield* check({ "/healthz": 200 })
    assert.strictEqual(closed["hidden paths"]?.[0], "ok")
    const local = yield* check(healthy, "http://127.0.0.1:4747")
    assert.strictEqual(local["hidden paths"]?.[0], "skipped")
  }))

it.effect("reports a listener without operator paths, a service that is not ready, and a wrong token", () =>
  Effect.gen(function*() {
    assert.match(String((yield* check({}))["readiness"]), /^failure,.* is not the listener for operators$/)
    const findings = yield* check({ ...healthy, "/readyz": 503, "/admin/v1/accounts?limit=1": 401 })
    assert.match(String(findings["readiness"]), /^failure,.* returns 503/)
    assert.deepStrictEqual(findings["operator token"], ["failure", "the operator API returns 401"])
  }))
