import { assert, describe, it } from "@effect/vitest"
import type { GeneratorError } from "@kinora/generator/GeneratorError"
import * as ProviderFailure from "@kinora/generator/ProviderFailure"
import { type Handler, json, listen } from "@kinora/testkit/upstreams/Listener"
import { Duration, Effect, Fiber, Latch, Redacted, Schema } from "effect"
import { TestClock } from "effect/testing"
import type { ServerResponse } from "node:http"
import * as Failures from "../src/internal/failures.ts"
import * as Upstream from "../src/internal/upstream.ts"

const Job = Schema.Struct({ id: Schema.String })

const submit: Upstream.Call = { method: "POST", target: "/jobs", body: { json: { prompt: "a lake" } } }
const poll: Upstream.Call = { method: "GET", target: "/jobs/1" }

/** An upstream of a server that responds like this. */
const upstreamOf = Effect.fnUntraced(function*(handle: Handler, options: Parameters<typeof Upstream.make>[1] = {}) {
  const server = yield* listen(handle)
  const upstream = yield* Upstream.make({
    baseUrl: `${server.origin}/v1`,
    credentials: { authorization: Redacted.make("Bearer key-1") }
  }, options)
  return { server, upstream }
})

const reasonOf = <A>(effect: Effect.Effect<A, GeneratorError>) =>
  Effect.map(Effect.flip(effect), ({ reason }) => reason)

const responding =
  (status: number, body: unknown = {}, headers: Readonly<Record<string, string>> = {}): Handler => (_, response) =>
    json(response, status, body, headers)

describe("call", () => {
  it.effect("sends the credentials, the body and the headers, and decodes the response", () =>
    Effect.gen(function*() {
      const { server, upstream } = yield* upstreamOf(responding(201, { id: "1", other: true }))
      const job = yield* upstream.call({ ...submit, headers: { "idempotency-key": "job-1" } }, Job)
      assert.deepStrictEqual(job, { id: "1" })
      const [request] = server.requests
      assert.strictEqual(request?.path, "/v1/jobs")
      assert.strictEqual(request?.headers.authorization, "Bearer key-1")
      assert.strictEqual(request?.headers["idempotency-key"], "job-1")
      assert.deepStrictEqual(JSON.parse(String(request?.body)), { prompt: "a lake" })
    }))

  it.effect("sends a form with fields and files", () =>
    Effect.gen(function*() {
      const { server, upstream } = yield* upstreamOf(responding(200, { id: "1" }))
      const bytes = Uint8Array.of(0, 1, 2, 255)
      yield* upstream.call({
        ...submit,
        body: {
          form: [{ name: "prompt", value: "a lake" }, { name: "image", fileName: "a.png", mime: "image/png", bytes }]
        }
      }, Job)
      const [request] = server.requests
      const form = yield* Effect.promise(() =>
        new Response(new Uint8Array(request?.body ?? []), {
          headers: { "content-type": String(request?.headers["content-type"]) }
        }).formData()
      )
      assert.strictEqual(form.get("prompt"), "a lake")
      const file = form.get("image") as File
      assert.strictEqual(file.name, "a.png")
      assert.deepStrictEqual(new Uint8Array(yield* Effect.promise(() => file.arrayBuffer())), bytes)
    }))

  it.effect("sends nothing to another origin, also if the upstream names it", () =>
    Effect.gen(function*() {
      const other = yield* listen(responding(200, { id: "1" }))
      const { server, upstream } = yield* upstreamOf(responding(200, { id: "1" }))
      for (
        const target of [
          `${other.origin}/jobs`,
          "ftp://127.0.0.1/",
          "jobs",
          `${server.origin}.example/`
        ]
      ) {
        assert.deepStrictEqual(
          yield* reasonOf(upstream.call({ ...poll, target }, Job)),
          ProviderFailure.permanent("unusable")
        )
      }
      assert.lengthOf(other.requests, 0)
      assert.lengthOf(server.requests, 0)
      yield* upstream.call({ ...poll, target: `${server.origin}/jobs/1` }, Job)
      assert.lengthOf(server.requests, 1)
    }))

  it.effect("does not follow redirects", () =>
    Effect.gen(function*() {
      const other = yield* listen(responding(200, { id: "1" }))
      const { upstream } = yield* upstreamOf(responding(307, {}, { location: other.origin }))
      assert.deepStrictEqual(yield* reasonOf(upstream.call(submit, Job)), ProviderFailure.permanent("unusable"))
      assert.lengthOf(other.requests, 0)
    }))

  it.effect("fails with a transient reason if nothing was sent", () =>
    Effect.gen(function*() {
      const { origin } = yield* Effect.scoped(listen(responding(200)))
      const upstream = yield* Upstream.make({ baseUrl: origin }, {})
      assert.strictEqual((yield* reasonOf(upstream.call(submit, Job)))._tag, "Transient")
    }))
})

describe("unknown outcomes", () => {
  const cut: Handler = (_, response) => void response.destroy()
  const endless: Handler = (_, response) => {
    const write = () => {
      while (response.write(Buffer.alloc(65_536, " ")));
    }
    response.writeHead(200).on("drain", write)
    write()
  }
  const truncated: Handler = (_, response) => {
    response.writeHead(200, { "content-length": "100" }).write("{\"id\":")
    response.destroy()
  }
  const broken: ReadonlyArray<readonly [string, Handler]> = [
    ["the connection closes without a response", cut],
    ["the response has no end", endless],
    ["the response is truncated", truncated],
    ["the response is not JSON", (_, response) => void response.end("<html>")],
    ["the response has another shape", responding(200, { identifier: 1 })],
    ["the status is 500", responding(500)],
    ["the status is 502", responding(502, "bad gateway", { "retry-after": "3" })],
    ["the status is 503 without a time", responding(503)],
    ["the status is 408", responding(408)]
  ]

  for (const [name, handler] of broken) {
    it.effect(`a submit has an unknown outcome if ${name}, and is retried only where that is safe`, () =>
      Effect.gen(function*() {
        const { upstream } = yield* upstreamOf(handler)
        assert.strictEqual((yield* reasonOf(upstream.call(submit, Job)))._tag, "UnknownOutcome")
        assert.strictEqual((yield* reasonOf(upstream.call({ ...submit, repeat: "safe" }, Job)))._tag, "Transient")
        assert.strictEqual((yield* reasonOf(upstream.call(poll, Job)))._tag, "Transient")
      }))
  }

  it.effect("a submit has an unknown outcome after its time limit, and its connection closes", () =>
    Effect.gen(function*() {
      const received = Latch.makeUnsafe(false)
      const closed = Latch.makeUnsafe(false)
      const { upstream } = yield* upstreamOf((_, response: ServerResponse) => {
        response.on("close", () => closed.openUnsafe())
        received.openUnsafe()
      })
      const call = yield* Effect.forkChild(reasonOf(upstream.call({ ...submit, timeout: Duration.seconds(5) }, Job)))
      yield* received.await
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual((yield* Fiber.join(call))._tag, "UnknownOutcome")
      yield* closed.await
    }))

  it.effect("a call that waits for a connection longer than its time limit was not sent", () =>
    Effect.gen(function*() {
      const received = Latch.makeUnsafe(false)
      const { server, upstream } = yield* upstreamOf(() => received.openUnsafe(), { connections_max: 1 })
      yield* Effect.forkChild(upstream.call(submit, Job))
      yield* received.await
      const late = reasonOf(upstream.call({ ...submit, timeout: Duration.seconds(5) }, Job))
      const waiting = yield* Effect.forkChild(late, { startImmediately: true })
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual((yield* Fiber.join(waiting))._tag, "Transient")
      assert.lengthOf(server.requests, 1)
    }))
})

describe("statuses", () => {
  const reasons: ReadonlyArray<readonly [number, unknown, ProviderFailure.Rejection]> = [
    [401, {}, "auth"],
    [403, {}, "auth"],
    [402, {}, "quota"],
    [429, { error: { code: "insufficient_quota" } }, "quota"],
    [400, {}, "invalid"],
    [413, {}, "invalid"],
    [422, { detail: [{ type: "missing" }] }, "invalid"],
    [400, { error: { code: "moderation_blocked" } }, "moderated"],
    [403, { error: { type: "content_policy_violation" } }, "moderated"],
    [422, { detail: [{ type: "content_policy_violation" }] }, "moderated"],
    [404, {}, "gone"],
    [410, {}, "gone"]
  ]
  for (const [status, body, rejection] of reasons) {
    it.effect(`${status} ${JSON.stringify(body)} is ${rejection}`, () =>
      Effect.gen(function*() {
        const { upstream } = yield* upstreamOf(responding(status, body))
        assert.deepStrictEqual(yield* reasonOf(upstream.call(submit, Job)), ProviderFailure.permanent(rejection))
      }))
  }

  it.effect("429 and a 503 with a time are transient, with the time that the upstream asks to wait", () =>
    Effect.gen(function*() {
      for (const status of [429, 503]) {
        const { upstream } = yield* upstreamOf(responding(status, {}, { "retry-after": "7" }))
        assert.deepStrictEqual(yield* reasonOf(upstream.call(submit, Job)), Failures.transient(Duration.seconds(7)))
      }
    }))

  it.effect("a driver can give another reason", () =>
    Effect.gen(function*() {
      const { upstream } = yield* upstreamOf(responding(409, { error: { code: "Busy" } }))
      const seen: Array<Failures.HttpFailure> = []
      const reason = yield* reasonOf(upstream.tell({
        ...submit,
        reasonOf: (failure) => {
          seen.push(failure)
          return ProviderFailure.permanent("failed")
        }
      }))
      assert.deepStrictEqual(reason, ProviderFailure.permanent("failed"))
      assert.deepStrictEqual(seen.map(({ codes, status }) => [status, codes]), [[409, ["busy"]]])
    }))

  it("a wait is read from seconds, milliseconds and dates, and has a maximum", () => {
    const millis = (headers: Record<string, string>) => {
      const wait = Failures.retryAfterOf(headers, Date.UTC(2026, 0, 1))
      return wait && Duration.toMillis(wait)
    }
    assert.strictEqual(millis({ "retry-after": "2" }), 2000)
    assert.strictEqual(millis({ "retry-after-ms": "250", "retry-after": "2" }), 250)
    assert.strictEqual(millis({ "retry-after": "Thu, 01 Jan 2026 00:00:05 GMT" }), 5000)
    assert.strictEqual(
      millis({ "retry-after": "Thu, 01 Jan 2026 00:00:05 GMT", date: "Thu, 01 Jan 2026 00:00:03 GMT" }),
      2000
    )
    assert.strictEqual(millis({ "retry-after": "999999999999" }), 3_600_000)
    assert.strictEqual(millis({ "retry-after": "soon" }), undefined)
    assert.strictEqual(millis({}), undefined)
  })

  it("a code with the text of a request is not a code", () => {
    assert.deepStrictEqual(Failures.codesOf({ error: "The prompt 'a lake' is too long", code: "Too_Long" }), [
      "too_long"
    ])
  })
})
