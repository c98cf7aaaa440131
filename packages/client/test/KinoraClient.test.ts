import { assert, it } from "@effect/vitest"
import { Cause, Deferred, Effect, Exit, Fiber, Redacted, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as KinoraClient from "../src/KinoraClient.ts"
import type { Fetch } from "../src/Options.ts"
import { job, refusal, request, unfinished } from "./Scene.ts"

/** A client whose service responds in this order. `all` is completed by the last request. */
const withAnswers = Effect.fnUntraced(function*(answers: ReadonlyArray<Response | "silence">) {
  const asked: Array<string> = []
  const signals: Array<AbortSignal> = []
  const all = yield* Deferred.make<void>()
  const fetch: Fetch = (url, { method, signal }) => {
    const answer = answers[asked.length]
    asked.push(`${method} ${url}`)
    signals.push(signal!)
    if (asked.length === answers.length) Deferred.doneUnsafe(all, Effect.void)
    return answer instanceof Response ? Promise.resolve(answer) : new Promise(() => {})
  }
  const options = { baseUrl: "https://api.test", apiKey: Redacted.make("kin_secret"), fetch }
  return { asked, signals, all, client: yield* KinoraClient.make(options) }
})

it.effect("calls fail with tagged errors and wait on the clock of the fiber", () =>
  Effect.gen(function*() {
    const limited = refusal(429, "rate_limited", { "retry-after-ms": "60000" })
    const { asked, client } = yield* withAnswers([limited, refusal(404, "model_not_found")])
    const fiber = yield* client.models.get("none").pipe(
      Effect.catchTag("ResponseError", ({ code }) => Effect.succeed(code)),
      Effect.forkChild
    )
    yield* TestClock.adjust("59999 millis")
    assert.strictEqual(asked.length, 1)
    yield* TestClock.adjust("1 millis")
    assert.strictEqual(yield* Fiber.join(fiber), "model_not_found")
  }))

it.effect("generate returns the result as a stream and as bytes", () =>
  Effect.gen(function*() {
    const content = () => new Response("picture")
    const { client } = yield* withAnswers([Response.json(unfinished()), Response.json(job()), content(), content()])
    const { bytes, stream } = yield* client.generate(request)
    assert.strictEqual(yield* Stream.mkString(Stream.decodeText(stream)), "picture")
    assert.strictEqual(new TextDecoder().decode(yield* bytes), "picture")
  }))

it.effect("interruption aborts the request", () =>
  Effect.gen(function*() {
    const { all, client, signals } = yield* withAnswers(["silence"])
    const fiber = yield* Effect.forkChild(client.models.list())
    yield* Deferred.await(all)
    yield* Fiber.interrupt(fiber)
    assert.isTrue(signals[0]?.aborted)
  }))

it.effect("interruption of a stream aborts its request", () =>
  Effect.gen(function*() {
    const endless = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(unfinished())}\n\n`))
    })
    const { client, signals } = yield* withAnswers([
      new Response(endless, { headers: { "content-type": "text/event-stream" } })
    ])
    const first = yield* Deferred.make<string>()
    const fiber = yield* client.generations.events("gen_1").pipe(
      Stream.runForEach(({ status }) => Deferred.succeed(first, status)),
      Effect.forkChild
    )
    assert.strictEqual(yield* Deferred.await(first), "processing")
    yield* Fiber.interrupt(fiber)
    assert.isTrue(signals[0]?.aborted)
  }))

it.effect("a list is a stream that requests pages on demand", () =>
  Effect.gen(function*() {
    const { asked, client } = yield* withAnswers([Response.json({ data: [job(), job()], next_cursor: "c" })])
    assert.strictEqual((yield* Stream.runCollect(Stream.take(client.generations.list(), 1))).length, 1)
    assert.strictEqual(asked.length, 1)
  }))

it.effect("an invalid argument is a defect", () =>
  Effect.gen(function*() {
    const { client } = yield* withAnswers([])
    const exit = yield* Effect.exit(Stream.runDrain(client.download("no address")))
    assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
  }))
