/** Callbacks of upstreams. */
import { assert, it } from "@effect/vitest"
import * as Callbacks from "@kinora/generations/Callbacks"
import { GenerationId } from "@kinora/generations/Generation"
import { UrlSigner } from "@kinora/storage"
import { DateTime, Effect, Layer, Logger, Redacted, Tracer } from "effect"
import { TestClock } from "effect/testing"
import { errorOf } from "./Envelope.ts"
import * as Host from "./Host.ts"

/** The URL with another signature. */
const forged = (url: string) => url.replace(/sig=(.)/, (_, first) => first === "-" ? "sig=_" : "sig=-")

/** Makes the path of a valid callback for a new job, and watches the job. */
const makeCallback = Effect.gen(function*() {
  const signer = yield* UrlSigner.UrlSigner
  const id = yield* GenerationId.make
  const expiresAt = DateTime.add(yield* DateTime.now, { minutes: 5 })
  const called = yield* Callbacks.Callbacks.use(({ watch }) => watch(id))
  return { id, expiresAt, called, path: UrlSigner.urlOf(signer, "", Callbacks.pathOf(id), expiresAt) }
})

it.effect("wakes the polls of exactly the job, any number of times, whatever the body contains", () =>
  Effect.gen(function*() {
    const send = yield* Host.start()
    const { called, path } = yield* makeCallback
    const other = yield* makeCallback
    for (const body of [undefined, { status: "failed", output: "https://evil.example.com/" }, "not json"]) {
      const answer = yield* send("POST", path, { body })
      assert.deepStrictEqual([answer.status, answer.text], [204, ""])
      assert.isUndefined(answer.headers["x-ratelimit-limit"])
      assert.isTrue(called.isOpen())
      yield* called.close
    }
    assert.isFalse(other.called.isOpen())
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("responds to everything else like to a path that does not exist", () =>
  Effect.gen(function*() {
    const send = yield* Host.start({ failedAuthenticationsPerMinute: 1_000 })
    const signer = yield* UrlSigner.UrlSigner
    const { called, expiresAt, id, path } = yield* makeCallback
    const foreign = UrlSigner.make({ keys: [Redacted.make("the key of another service with 32 bytes")] })
    const other = yield* GenerationId.make
    const content = signer.sign(`/v1/generations/${id}/content`, expiresAt)
    const later = UrlSigner.urlOf(signer, "", Callbacks.pathOf(id), DateTime.add(expiresAt, { hours: 1 }))
    const wrong = [
      path.replace(id, other),
      forged(path),
      path.replace(/&sig=.*/, ""),
      path.replace(/exp=\d+&/, ""),
      path.replace(/exp=\d+/, /exp=\d+/.exec(later)![0]),
      `${path}&sig=x`,
      path.split("?")[0]!,
      path.replace(id, "gen_x"),
      UrlSigner.urlOf(foreign, "", Callbacks.pathOf(id), expiresAt),
      `/internal/callbacks/${id}?exp=${content.exp}&sig=${content.sig}`
    ]
    const { headers: _, ...unknown } = yield* send("POST", "/internal/nothing")
    for (const target of wrong) {
      const { headers: _, ...answer } = yield* send("POST", target)
      assert.deepStrictEqual(answer, unknown, target)
    }
    for (const method of ["GET", "PUT", "DELETE", "PATCH"]) {
      errorOf(yield* send(method, path), "not_found")
    }
    yield* TestClock.adjust("5 minutes")
    errorOf(yield* send("POST", path), "not_found")
    assert.isFalse(called.isOpen())
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("limits wrong signatures of one address like failed authentications, but accepts valid ones from it", () =>
  Effect.gen(function*() {
    const send = yield* Host.start({ failedAuthenticationsPerMinute: 2 })
    const { path } = yield* makeCallback
    const expired = yield* makeCallback
    yield* TestClock.adjust("4 minutes")
    const valid = yield* makeCallback
    yield* TestClock.adjust("1 minute")
    // The signatures of expired URLs are valid, so they do not count.
    for (const late of [path, expired.path, path]) errorOf(yield* send("POST", late), "not_found")
    const wrong = forged(path)
    errorOf(yield* send("POST", wrong), "not_found")
    errorOf(yield* send("POST", wrong), "not_found")
    errorOf(yield* send("POST", wrong), "rate_limited")
    errorOf(yield* send("GET", "/v1/models", { key: "kin_wrong" }), "rate_limited")
    assert.strictEqual((yield* send("POST", valid.path)).status, 204)
    errorOf(yield* send("POST", wrong, { from: "203.0.113.10" }), "not_found")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("closes the connection instead of reading a long body", () =>
  Effect.gen(function*() {
    const send = yield* Host.start({ bodyBytesMax: 10 })
    const { path } = yield* makeCallback
    const connectionOf = (headers: Readonly<Record<string, string>>) =>
      Effect.map(send("POST", path, { headers }), ({ headers, status }) => [status, headers["connection"]])
    assert.deepStrictEqual(yield* connectionOf({ "content-length": "10" }), [204, undefined])
    assert.deepStrictEqual(yield* connectionOf({ "content-length": "11" }), [204, "close"])
    assert.deepStrictEqual(yield* connectionOf({ "transfer-encoding": "chunked" }), [204, "close"])
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("writes no signature to logs and traces", () => {
  const written: Array<unknown> = []
  const tracer = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      written.push(span)
      return span
    }
  })
  const broken = Callbacks.Callbacks.of({
    publish: () => Effect.die(new Error("bug")),
    receive: () => Effect.void,
    watch: () => Effect.never
  })
  return Effect.gen(function*() {
    const signer = yield* UrlSigner.UrlSigner
    const path = UrlSigner.urlOf(
      signer,
      "",
      Callbacks.pathOf(yield* GenerationId.make),
      DateTime.add(yield* DateTime.now, { minutes: 5 })
    )
    const send = yield* Effect.provideService(Host.start(), Callbacks.Callbacks, broken)
    errorOf(yield* send("POST", path), "internal_error")
    errorOf(yield* send("POST", path.replace(/exp=\d/, "exp=9")), "not_found")
    const text = written.map((entry) =>
      entry instanceof Tracer.NativeSpan ? JSON.stringify([...entry.attributes]) : String(entry)
    ).join("\n")
    assert.include(text, "/internal/callbacks/:id")
    assert.include(text, "url.full")
    assert.include(text, "failed")
    assert.notInclude(text, new URL(path, "https://x").searchParams.get("sig")!)
  }).pipe(
    Effect.scoped,
    Effect.provide(Layer.mergeAll(
      Host.layer,
      Logger.layer([Logger.make(({ cause, message }) => void written.push(`${String(message)} ${String(cause)}`))])
    )),
    Effect.withTracer(tracer)
  )
})
