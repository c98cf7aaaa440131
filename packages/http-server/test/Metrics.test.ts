import { assert, it } from "@effect/vitest"
import { Generation } from "@kinora/generations"
import { Effect, Fiber, Metric } from "effect"
import { TestClock } from "effect/testing"
import * as Host from "./Host.ts"

const body = { plan: "credits", model: "kinora-still", params: { prompt: "a secret lake" } }

/** Runs a test with metrics of its own. */
const counted = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => Effect.provideService(effect, Metric.MetricRegistry, new Map()))

/** The values of a metric by labels; "" without labels. */
const valuesOf = (text: string, name: string): Readonly<Record<string, number>> =>
  Object.fromEntries(Array.from(
    text.matchAll(new RegExp(`^${name}(?:\\{(.*)\\})? (.+)$`, "gm")),
    ([, labels = "", value]) => [labels, Number(value)]
  ))

it.effect("counts requests by the path in the contract, never by text of a client", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const { key } = yield* Host.openAccount()
    const created = yield* send("POST", "/v1/generations", { key, body })
    const { id } = created.json as { readonly id: string }
    yield* send("GET", `/v1/generations/${id}?wait=0`, { key })
    yield* send("GET", "/v1/generations/gen_nothing", { key })
    yield* send("GET", `/v1/generations/${id}`, { key: "kin_wrong" })
    yield* send("DELETE", `/v1/generations/${id}`, { key })
    yield* send("GET", "/etc/passwd?a=b")
    yield* send("GET", "/openapi.json")
    const answer = yield* send("GET", "/metrics")
    assert.strictEqual(answer.headers["content-type"], "text/plain; version=0.0.4; charset=utf-8")
    const get = `route="/v1/generations/:id",method="GET"`
    assert.deepStrictEqual(valuesOf(answer.text, "kinora_http_requests_total"), {
      [`route="/v1/generations",method="POST",status="2xx"`]: 1,
      [`${get},status="2xx"`]: 1,
      [`${get},status="4xx"`]: 2,
      [`route="/v1/generations/:id",method="other",status="4xx"`]: 1,
      [`route="unknown",method="other",status="4xx"`]: 1,
      [`route="/openapi.json",method="GET",status="2xx"`]: 1
    })
    assert.deepStrictEqual(valuesOf(answer.text, "kinora_http_refusals_total"), {
      [`code="not_found"`]: 2,
      [`code="unauthorized"`]: 1,
      [`code="method_not_allowed"`]: 1
    })
    assert.strictEqual(valuesOf(answer.text, "kinora_http_request_duration_seconds_count")[get], 3)
    for (const secret of [id, "gen_nothing", "passwd", "lake", "kin_"]) assert.notInclude(answer.text, secret)
    assert.deepStrictEqual(Object.keys(answer.headers).filter((name) => name.startsWith("x-ratelimit")), [])
  }).pipe(counted, Effect.scoped, Effect.provide(Host.layer)))

it.effect("counts waiting requests while they wait and those that clients abandon, without timing them", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const { key, keyId } = yield* Host.openAccount()
    const { json } = yield* send("POST", "/v1/generations", { key, body })
    const id = Generation.GenerationId.parse((json as { readonly id: string }).id)!
    const waiting = yield* Effect.forkChild(send("GET", `/v1/generations/${id}?wait=60`, { key }))
    yield* Host.held("wait", keyId, 1)
    // The request for the metrics is in flight too.
    const during = (yield* send("GET", "/metrics")).text
    assert.deepStrictEqual(valuesOf(during, "kinora_http_requests_in_flight"), { "": 2 })
    yield* TestClock.adjust("60 seconds")
    assert.strictEqual((yield* Fiber.join(waiting)).status, 200)
    const { text } = yield* send("GET", "/metrics")
    assert.deepStrictEqual(valuesOf(text, "kinora_http_requests_in_flight"), { "": 1 })
    const labels = `route="/v1/generations/:id",method="GET"`
    assert.strictEqual(valuesOf(text, "kinora_http_requests_total")[`${labels},status="2xx"`], 1)
    assert.isUndefined(valuesOf(text, "kinora_http_request_duration_seconds_count")[labels])

    const left = yield* Effect.forkChild(send("GET", `/v1/generations/${id}?wait=60`, { key }))
    yield* Host.held("wait", keyId, 1)
    yield* Fiber.interrupt(left)
    yield* Host.held("wait", keyId, 0)
    const after = (yield* send("GET", "/metrics")).text
    assert.deepStrictEqual(valuesOf(after, "kinora_http_requests_in_flight"), { "": 1 })
    assert.strictEqual(valuesOf(after, "kinora_http_requests_total")[`${labels},status="aborted"`], 1)
  }).pipe(counted, Effect.scoped, Effect.provide(Host.layer)))

it.effect("counts the sent bytes of results only", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const { account, key } = yield* Host.openAccount()
    const { id } = yield* Host.addCompleted(account, new Uint8Array(1000))
    const content = `/v1/generations/${id}/content`
    yield* send("GET", content, { key, headers: { range: "bytes=0-99" } })
    yield* send("HEAD", content, { key })
    yield* send("GET", `/v1/generations/${id}`, { key })
    const { text } = yield* send("GET", "/metrics")
    assert.deepStrictEqual(valuesOf(text, "kinora_result_bytes_sent_total"), { "": 100 })
  }).pipe(counted, Effect.scoped, Effect.provide(Host.layer)))

it.effect("returns 404 if metrics are disabled", () =>
  Effect.gen(function*() {
    const send = yield* Host.start({ metrics: false })
    const { headers: _, ...answer } = yield* send("GET", "/metrics")
    const { headers: __, ...unknown } = yield* send("GET", "/metrixs")
    assert.deepStrictEqual(answer, unknown)
  }).pipe(counted, Effect.scoped, Effect.provide(Host.layer)))
