import { assert, it } from "@effect/vitest"
import type { GenerationRequest } from "@kinora/generator/GenerationRequest"
import type { FailureCode } from "@kinora/generator/GeneratorError"
import { kinoraServer } from "@kinora/testkit/upstreams/KinoraServer"
import { responds, upstreamText } from "@kinora/testkit/upstreams/ScriptedServer"
import { Duration, Effect, Stream } from "effect"
import driver from "../src/Kinora.ts"
import * as Contract from "./ProtocolContract.ts"

const bytes = Uint8Array.of(1, 2, 3)

const request = (id: string): GenerationRequest => ({
  id,
  model: { name: "outer", options: { model: "inner" } },
  kind: "image",
  mode: "image_to_image",
  prompt: "a lake at dawn",
  params: { aspect_ratio: "16:9" },
  images: [{ mime: "image/png", width: 1, height: 1, bytes: bytes.length, body: Stream.make(bytes) }],
  seed: 7,
  format: "png"
})

const start = Effect.gen(function*() {
  const server = yield* kinoraServer({ mime: "image/png", bytes: Contract.resultBytes })
  const change = (change: { readonly status: string; readonly error?: string }) => {
    for (const job of server.all.values()) {
      job.status = change.status
      job.next = undefined
      if (change.error !== undefined) job.error = { code: change.error, message: upstreamText, reason: null }
    }
  }
  return {
    server,
    change,
    options: { base_url: server.origin, api_key: Contract.apiKey },
    jobs: () => [...server.all.values()].filter(({ status }) => status === "queued").length,
    finish: () => change({ status: "completed" }),
    fail: () => change({ status: "failed", error: "generation_failed" }),
    confuse: () => change({ status: "dreaming" }),
    restart: () => server.all.clear()
  }
})

Contract.suite({
  name: "Kinora",
  driver,
  resubmit: "safe",
  lines: {
    submit: /^POST \/v1\/generations$/,
    poll: /^GET \S+\?wait=1$/,
    result: /^GET \S+\/content$/
  },
  mime: "image/png",
  whenLost: "Lost",
  imageMode: "image_to_image",
  request,
  start
})

const starting = Effect.gen(function*() {
  const running = yield* start
  return { ...running, generator: yield* Contract.generatorOf(driver, running.options) }
})

it.effect("sends the plan, the model, the parameters and the images, under the id of the request", () =>
  Effect.gen(function*() {
    const { generator, server } = yield* starting
    const operation = yield* generator.submit(request("job-1"))
    const [created] = server.requests
    assert.strictEqual(created?.headers["idempotency-key"], "job-1")
    assert.deepStrictEqual(JSON.parse(String(created?.body)), {
      plan: "credits",
      model: "inner",
      params: {
        prompt: "a lake at dawn",
        mode: "image_to_image",
        aspect_ratio: "16:9",
        images: [{ mime: "image/png", data: "data:image/png;base64,AQID" }]
      }
    })
    assert.deepStrictEqual(yield* generator.poll(operation), {
      _tag: "Pending",
      after: Duration.seconds(2),
      progress: undefined
    })
    assert.strictEqual(server.requests.at(-1)?.path, "/v1/generations/gen_0?wait=1")
  }))

it.effect.each<readonly [string, string]>([
  ["content_rejected", "content_rejected"],
  ["invalid_input", "invalid_input"],
  ["generation_failed", "generation_failed"],
  ["upstream_error", "upstream_error"],
  ["upstream_timeout", "upstream_timeout"],
  ["time_limit", "upstream_timeout"],
  ["queue_timeout", "upstream_timeout"],
  ["worker_lost", "upstream_error"],
  ["model_withdrawn", "upstream_error"],
  ["a_code_of_a_later_release", "upstream_error"]
])("fails a job that failed with %s with %s", ([inner, outer]) =>
  Effect.gen(function*() {
    const { change, generator } = yield* starting
    const operation = yield* generator.submit(request("job-1"))
    change({ status: "failed", error: inner })
    const status = yield* generator.poll(operation)
    assert.strictEqual(status._tag === "Failed" ? status.error.code : status._tag, outer)
  }))

it.effect("fails a job that was cancelled at the service", () =>
  Effect.gen(function*() {
    const { change, generator } = yield* starting
    const operation = yield* generator.submit(request("job-1"))
    change({ status: "cancelled" })
    assert.strictEqual((yield* generator.poll(operation))._tag, "Failed")
  }))

it.effect("does not fail if the job runs already, which the service does not cancel", () =>
  Effect.gen(function*() {
    const { change, generator, server } = yield* starting
    const operation = yield* generator.submit(request("job-1"))
    change({ status: "processing" })
    yield* generator.cancel(operation)
    assert.strictEqual(server.all.get("gen_0")?.status, "processing")
  }))

it.effect.each<readonly [number, string, FailureCode]>([
  [402, "insufficient_credits", "upstream_error"],
  [404, "model_not_found", "upstream_error"],
  [422, "idempotency_key_reused", "upstream_error"],
  [400, "invalid_params", "invalid_input"]
])("fails permanently if the service rejects the job with %d %s", ([status, code, failure]) =>
  Effect.gen(function*() {
    const { generator, server } = yield* starting
    server.next("POST", responds(status, {}, { error: { code, message: upstreamText } }))
    const reason = yield* Contract.reasonOf(generator.submit(request("job-1")))
    assert.deepInclude(reason, { _tag: "Permanent", code: failure })
  }))

it.effect.each<readonly [number, string]>([[429, "queue_full"], [409, "idempotency_in_progress"]])(
  "waits and submits again after %d %s",
  ([status, code]) =>
    Effect.gen(function*() {
      const { generator, jobs, server } = yield* starting
      server.next("POST", responds(status, { "retry-after": "5" }, { error: { code } }))
      const reason = yield* Contract.reasonOf(generator.submit(request("job-1")))
      assert.deepInclude(reason, { _tag: "Transient", retryAfter: Duration.seconds(5) })
      yield* generator.submit(request("job-1"))
      assert.strictEqual(jobs(), 1)
    })
)
