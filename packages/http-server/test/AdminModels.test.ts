import { assert, it } from "@effect/vitest"
import { UpstreamReports } from "@kinora/generations/UpstreamReports"
import { DateTime, Effect, Redacted, Schema } from "effect"
import { TestClock } from "effect/testing"
import { errorOf } from "./Envelope.ts"
import * as Host from "./Host.ts"

const token = "the token of the operators of this service"

const modelOf = Schema.decodeUnknownSync(Schema.Record(Schema.String, Schema.Json))
const listOf = Schema.decodeUnknownSync(
  Schema.Struct({ data: Schema.Array(Schema.Record(Schema.String, Schema.Json)) })
)

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
