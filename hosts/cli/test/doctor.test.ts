import { assert, it } from "@effect/vitest"
import type { Probes } from "@kinora/hosting"
import { Effect, Fiber, Option, Redacted } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { TestClock } from "effect/testing"
import { checkProbes } from "../src/doctor/probes.ts"
import { checkService } from "../src/doctor/service.ts"
import * as Terminal from "./Terminal.ts"

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

/** Checks the probes of a service that responds to a probe of these seconds with a status, after a time in seconds. */
const probe = Effect.fnUntraced(function*(
  respond: (seconds: number) => readonly [status: number, after: number],
  options: { readonly quick?: boolean; readonly url?: string; readonly probeUrl?: Option.Option<Probes.ProbeUrl> } = {}
) {
  const client = HttpClient.make((request, { pathname }) => {
    const [status, after] = respond(Number(pathname.slice(1)))
    return Effect.succeed(HttpClientResponse.fromWeb(request, new Response(null, { status }))).pipe(
      Effect.delay(`${after} seconds`)
    )
  })
  const probeUrl = Option.some((origin: string, seconds: number) => Effect.succeed(`${origin}/${seconds}`))
  const checks = checkProbes({ url: "https://kinora.example", probeUrl, quick: false, ...options })
  const fiber = yield* Effect.forkChild(Effect.provideService(checks, HttpClient.HttpClient, client))
  yield* TestClock.adjust("5 minutes")
  const findings = yield* Fiber.join(fiber)
  return Object.fromEntries(findings.map(({ check, detail, status }) => [check, `${status}: ${detail}`]))
})

it.effect("probes the signing keys of every server", () =>
  Effect.gen(function*() {
    const healthy = yield* probe((seconds) => [204, seconds])
    assert.strictEqual(
      healthy["signing keys"],
      "ok: all servers that responded have the keys of this host (8 requests)"
    )
    let requests = 0
    const other = yield* probe((seconds) => [++requests === 8 ? 404 : 204, seconds])
    assert.strictEqual(
      other["signing keys"],
      "failure: a server at https://kinora.example does not have the URL signing keys of this host"
    )
    assert.strictEqual(other["long polls"], "skipped: need the signing keys of the service")
    const unknown = yield* probe((seconds) => [204, seconds], { probeUrl: Option.none() })
    assert.match(unknown["signing keys"]!, /^skipped: this host has no URL signing key/)
  }))

it.effect("finds proxies that give up before a long poll ends", () =>
  Effect.gen(function*() {
    assert.match((yield* probe((seconds) => [204, seconds]))["long polls"]!, /^ok: a response arrives after 60 s$/)
    const short = yield* probe((seconds) => seconds > 30 ? [504, 30] : [204, seconds])
    assert.strictEqual(short["long polls"], "failure: the proxy gives up after 30 s with HTTP 504")
    const silent = yield* probe((seconds) => seconds > 30 ? [204, 1_000] : [204, seconds])
    assert.strictEqual(silent["long polls"], "failure: the proxy gives up after 70 s")
    for (const options of [{ quick: true }, { url: "http://127.0.0.1:4747" }]) {
      assert.match((yield* probe((seconds) => [204, seconds], options))["long polls"]!, /^skipped: /)
    }
  }))

it.effect("reports models without workers, paused ones and waiting jobs", () =>
  Effect.gen(function*() {
    const { host, json, run } = yield* Terminal.make({ workers: 0 })
    const diagnose = Effect.gen(function*() {
      const { output } = yield* run("doctor", "--quick", "--json")
      const { findings } = JSON.parse(output) as {
        findings: ReadonlyArray<{ readonly check: string; readonly status: string; readonly detail: string }>
      }
      return Object.fromEntries(findings.map(({ check, detail, status }) => [check, `${status}: ${detail}`]))
    })
    yield* json("model", "pause", "kinora-still", "--yes")
    const idle = yield* diagnose
    assert.match(idle["workers"]!, /^warning: no worker runs jobs of .*kinora-still/)
    assert.strictEqual(idle["upstreams"], "warning: paused by an operator: kinora-still")
    assert.match(idle["webhooks"]!, /^skipped: name the URL/)

    const { status } = yield* Effect.promise(() =>
      host.fetch("/v1/generations", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model: "kinora-draft", plan: "credits", params: { prompt: "a lake" } })
      })
    )
    assert.strictEqual(status, 201)
    assert.strictEqual((yield* diagnose)["workers"], "failure: jobs wait, and no worker runs them: kinora-draft")
  }))
