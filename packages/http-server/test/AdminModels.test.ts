import { assert, it } from "@effect/vitest"
import { UpstreamReports } from "@kinora/generations/UpstreamReports"
import { DateTime, Effect, Redacted, Schema } from "effect"
import { TestClock } from "effect/testing"
import { errorOf } from "./Envelope.ts"
import * as Host from "./Host.ts"

const token = "the token of the operators of this service"

const modelOf = Schema.decodeUnknownSync(Schema.Record(Schema.String, Schema.Json))
const listOf = Schema.decodeUnknownSync(
  Schema.Struct({
    data: Schema.Array(Schema.Record(Schema.String, Schema.Json)),
    next_cursor: Schema.NullOr(Schema.String)
  })
)

it.effect("lists models page by page", () =>
  Effect.gen(function*() {
    const send = yield* Host.start({ adminToken: Redacted.make(token) })
    const get = (query: string) => send("GET", `/admin/v1/models${query}`, { key: token })
    const page = (query: string) =>
      Effect.map(get(query), ({ json }) => {
        const { data, next_cursor } = listOf(json)
        return [data.map(({ id }) => id), next_cursor]
      })
    const all = ["kinora-draft", "kinora-still", "paused-1", "remix-1", "film-1"]
    assert.deepStrictEqual(yield* page(""), [all, null])
    assert.deepStrictEqual(yield* page("?limit=2"), [all.slice(0, 2), "kinora-still"])
    assert.deepStrictEqual(yield* page("?limit=2&cursor=kinora-still"), [all.slice(2, 4), "remix-1"])
    assert.deepStrictEqual(yield* page("?limit=2&cursor=remix-1"), [all.slice(4), null])
    assert.deepStrictEqual(yield* page("?limit=5"), [all, null])
    for (const query of ["?cursor=nothing", "?limit=0", "?limit=101", "?cursor=%00"]) {
      errorOf(yield* get(query), "invalid_params")
    }
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("lists, pauses and resumes models", () =>
  Effect.gen(function*() {
    const send = yield* Host.start({ adminToken: Redacted.make(token) })
    const { key } = yield* Host.openAccount()
    const operate = (method: string, path: string) => send(method, `/admin/v1/models${path}`, { key: token })
    const create = send("POST", "/v1/generations", {
      key,
      body: { plan: "credits", model: "kinora-still", params: { prompt: "a lake" } }
    })
    const statusOf = Effect.map(send("GET", "/v1/models/kinora-still", { key }), ({ json }) => modelOf(json).status)
    const { data } = listOf((yield* operate("GET", "")).json)
    assert.deepStrictEqual(data.map(({ id, status }) => [id, status]), [
      ["kinora-draft", "available"],
      ["kinora-still", "available"],
      ["paused-1", "paused"],
      ["remix-1", "available"],
      ["film-1", "available"]
    ])
    const still = data[1]!
    assert.deepInclude(still, { kind: "image", paused_at: null, reports: [] })
    assert.strictEqual(yield* statusOf, "available")

    const pausedAt = DateTime.formatIso(Host.startedAt)
    const paused = { ...still, status: "paused", paused_at: pausedAt }
    assert.deepStrictEqual(modelOf((yield* operate("POST", "/kinora-still/pause")).json), paused)
    yield* TestClock.adjust("5 seconds")
    assert.deepStrictEqual(modelOf((yield* operate("POST", "/kinora-still/pause")).json), paused)
    assert.strictEqual(yield* statusOf, "paused")
    assert.deepStrictEqual(errorOf(yield* create, "model_unavailable").details, { model: "kinora-still" })

    const reports = yield* UpstreamReports
    const [upstream] = Schema.decodeUnknownSync(Schema.NonEmptyArray(Schema.String))(still["upstreams"])
    const now = yield* DateTime.now
    const [retryAt, until] = [DateTime.add(now, { seconds: 20 }), DateTime.add(now, { seconds: 30 })]
    yield* reports.put("wrk_a", [{ worker: "wrk_a", upstream, status: "degraded", retryAt, until }], now)
    assert.deepStrictEqual(modelOf((yield* operate("POST", "/kinora-still/resume")).json).reports, [
      { worker: "wrk_a", upstream, status: "degraded", retry_at: DateTime.formatIso(retryAt) }
    ])
    yield* TestClock.adjust("5 seconds")
    assert.strictEqual((yield* create).status, 201)
    assert.deepInclude(modelOf((yield* operate("POST", "/kinora-still/resume")).json), { paused_at: null })

    // The configuration pauses it.
    assert.deepInclude(modelOf((yield* operate("POST", "/paused-1/resume")).json), {
      status: "paused",
      paused_at: null
    })
    errorOf(yield* operate("POST", "/gone-1/pause"), "not_found")
    errorOf(yield* operate("POST", "/%00/resume"), "not_found")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))
