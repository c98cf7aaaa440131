import { assert, it } from "@effect/vitest"
import { GenerationError, UploadError, Uploads } from "@kinora/generations"
import { Generation as WireGeneration, Upload } from "@kinora/http-api"
import { Bytes, Deferred, Duration, Effect, Fiber, Queue, Schema } from "effect"
import { TestClock } from "effect/testing"
import { errorOf, limitOf } from "./Envelope.ts"
import * as Host from "./Host.ts"

const png = { "content-type": "image/png" }
const strictly = Schema.decodeUnknownSync(Upload.Upload, { onExcessProperty: "error" })
const idOf = ({ json }: Host.Answer) => strictly(json).id

const open = Effect.fnUntraced(function*(options: Parameters<typeof Host.start>[0] = {}) {
  const send = yield* Host.start(options)
  const { key } = yield* Host.openAccount()
  const upload = Effect.fnUntraced(
    function*(sent: Uint8Array | FormData, headers: Readonly<Record<string, string>> = {}) {
      if (sent instanceof Uint8Array) return yield* send("POST", "/v1/uploads", { key, body: sent, headers })
      // As bytes, because the stream of a form cannot be abandoned before its end.
      const written = new Response(sent)
      const body = new Uint8Array(yield* Effect.promise(() => written.arrayBuffer()))
      const type = { "content-type": written.headers.get("content-type") ?? "" }
      return yield* send("POST", "/v1/uploads", { key, body, headers: type })
    }
  )
  const create = (image: object) => {
    const body = { plan: "credits", model: "remix-1", params: { prompt: "a lake", images: [image] } }
    return send("POST", "/v1/generations", { key, body })
  }
  return { create, key, send, upload }
})

/** A form with these files under their names. */
const form = (...files: ReadonlyArray<readonly [string, Uint8Array | string, string?]>) => {
  const data = new FormData()
  for (const [name, content, type = "image/png"] of files) {
    if (typeof content === "string") data.append(name, content)
    else data.append(name, new Blob([new Uint8Array(content)], { type }), "lake.png")
  }
  return data
}

it.effect("accepts an image as the body or as the part file of a form, for use by jobs", () =>
  Effect.gen(function*() {
    const { create, upload } = yield* open()
    const answer = yield* upload(Host.pixel, png)
    assert.strictEqual(answer.status, 201, answer.text)
    const { bytes, id } = strictly(answer.json)
    assert.deepStrictEqual(answer.json, {
      id,
      mime: "image/png",
      bytes,
      width: 1,
      height: 1,
      expires_at: "2026-11-22T12:00:30.000Z"
    })
    assert.strictEqual(limitOf(answer).limit, 300)
    const inForm = yield* upload(form(["file", Host.pixel]))
    assert.strictEqual(inForm.status, 201, inForm.text)
    for (const upload_id of [id, idOf(inForm), id]) {
      const { json, status } = yield* create({ upload_id })
      assert.isTrue(status === 201 || status === 200)
      const { params } = Schema.decodeUnknownSync(WireGeneration.Generation)(json)
      assert.deepStrictEqual(params.images, [{ index: 0, mime: "image/png", width: 1, height: 1 }])
    }
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("detects the type of a part that declares none", () =>
  Effect.gen(function*() {
    const { upload } = yield* open()
    const type = { "content-type": "multipart/form-data; boundary=x" }
    const encode = (text: string) => new TextEncoder().encode(text)
    for (const line of ["", "Content-Type: application/octet-stream\r\n"]) {
      const head = encode(`--x\r\nContent-Disposition: form-data; name="file"; filename="lake.png"\r\n${line}\r\n`)
      const answer = yield* upload(Bytes.concat([head, Host.pixel, encode("\r\n--x--\r\n")]), type)
      assert.strictEqual(answer.status, 201, answer.text)
      assert.strictEqual(strictly(answer.json).mime, "image/png")
    }
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("rejects uploads that are expired, deleted or of other accounts", () =>
  Effect.gen(function*() {
    const { create, key, send, upload } = yield* open()
    const { key: other } = yield* Host.openAccount({ email: "other@example.com" })
    const id = idOf(yield* upload(Host.pixel, png))
    errorOf(yield* send("DELETE", `/v1/uploads/${id}`, { key: other }), "upload_not_found")
    const deleted = yield* send("DELETE", `/v1/uploads/${id}`, { key })
    assert.deepStrictEqual([deleted.status, deleted.text], [204, ""])
    errorOf(yield* send("DELETE", `/v1/uploads/${id}`, { key }), "upload_not_found")
    errorOf(yield* send("DELETE", "/v1/uploads/upl_1", { key }), "upload_not_found")
    assert.deepStrictEqual(errorOf(yield* create({ upload_id: id }), "upload_not_found").details, { index: 0 })

    const late = idOf(yield* upload(Host.pixel, png))
    yield* TestClock.adjust("24 hours")
    errorOf(yield* create({ upload_id: late }), "upload_not_found")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("rejects files that are not images of the declared type, in uploads and in jobs", () =>
  Effect.gen(function*() {
    const { create, upload } = yield* open()
    const half = Host.pixel.subarray(0, 40)
    errorOf(yield* upload(half, png), "invalid_image")
    errorOf(yield* upload(Host.pixel, { "content-type": "image/webp" }), "invalid_image")
    errorOf(yield* upload(form(["file", Host.pixel, "image/jpeg"])), "invalid_image")
    errorOf(yield* upload(new Uint8Array(), png), "invalid_image")
    const { details } = errorOf(yield* create({ data: btoa("no image") }), "invalid_image")
    assert.deepStrictEqual(details, { index: 0 })
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("rejects other media types and forms, and states what to send", () =>
  Effect.gen(function*() {
    const { upload } = yield* open()
    for (const type of ["application/json", "application/octet-stream", "image/gif", "text/plain"]) {
      const { message } = errorOf(yield* upload(Host.pixel, { "content-type": type }), "unsupported_media_type")
      assert.include(message, "multipart/form-data")
    }
    errorOf(yield* upload(Host.pixel), "unsupported_media_type")
    const forms = [
      form(),
      form(["image", Host.pixel]),
      form(["file", "text"]),
      form(["file", Host.pixel], ["file", Host.pixel]),
      form(["file", Host.pixel], ["name", "lake"])
    ]
    for (const body of forms) errorOf(yield* upload(body), "invalid_request")
    const type = "multipart/form-data; boundary=x"
    errorOf(yield* upload(new TextEncoder().encode("no form"), { "content-type": type }), "invalid_request")
    errorOf(yield* upload(Host.pixel, { "content-type": "multipart/form-data" }), "invalid_request")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("rejects an image that is too large, before and while reading it", () =>
  Effect.gen(function*() {
    const { upload } = yield* open({ uploadBytesMax: 100 })
    errorOf(yield* upload(new Uint8Array(101), png), "payload_too_large")
    errorOf(yield* upload(form(["file", new Uint8Array(101)])), "payload_too_large")
    errorOf(yield* upload(form(["file", new Uint8Array(40_000)])), "payload_too_large")
    const declared = yield* upload(Host.pixel, { ...png, "content-length": "40000" })
    errorOf(declared, "payload_too_large")
    assert.strictEqual(declared.headers["connection"], "close")
    assert.strictEqual((yield* upload(Host.pixel, png)).status, 201)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("decodes at most a quarter of the concurrent uploads for one account", () =>
  Effect.gen(function*() {
    const uploads = yield* Uploads.Uploads
    const entered = yield* Queue.unbounded<string>()
    const { send, upload } = yield* open({ uploadsMax: 8, crowdedWait: Duration.zero }).pipe(
      Effect.provideService(Uploads.Uploads, {
        ...uploads,
        create: (account) => Effect.andThen(Queue.offer(entered, account), Effect.never)
      })
    )
    const { account, key } = yield* Host.openAccount({ email: "other@example.com" })
    for (let n = 0; n < 2; n++) {
      yield* Effect.forkChild(upload(Host.pixel, png))
      yield* Queue.take(entered)
    }
    errorOf(yield* upload(Host.pixel, png), "unavailable")
    yield* Effect.forkChild(send("POST", "/v1/uploads", { key, body: Host.pixel, headers: png }))
    assert.strictEqual(yield* Queue.take(entered), account.id)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("returns 429 until the minute ends, if an image has more pixels than its account has left", () =>
  Effect.gen(function*() {
    const uploads = yield* Uploads.Uploads
    const reason = new GenerationError.InputPixelsExceeded({ perMinute: 500, retryAfter: Duration.millis(31_500) })
    const { upload } = yield* open().pipe(
      Effect.provideService(Uploads.Uploads, {
        ...uploads,
        create: () => Effect.fail(new UploadError.UploadError({ reason }))
      })
    )
    const answer = yield* upload(Host.pixel, png)
    const { details, message } = errorOf(answer, "rate_limited")
    assert.deepStrictEqual(details, { scope: "uploads" })
    assert.include(message, "500 pixels per minute")
    assert.deepStrictEqual([answer.headers["retry-after"], answer.headers["retry-after-ms"]], ["32", "31500"])
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("returns 503 at the limit of concurrent uploads, and 429 if the account has too many uploads", () =>
  Effect.gen(function*() {
    const uploads = yield* Uploads.Uploads
    const entered = yield* Deferred.make<void>()
    const goOn = yield* Deferred.make<void>()
    const refused = new UploadError.UploadError({ reason: new UploadError.TooManyUploads({ max: 3 }) })
    const { upload } = yield* open({ uploadsMax: 1, crowdedWait: Duration.zero }).pipe(
      Effect.provideService(Uploads.Uploads, {
        ...uploads,
        create: () =>
          Effect.andThen(
            Effect.andThen(Deferred.succeed(entered, undefined), Deferred.await(goOn)),
            Effect.fail(refused)
          )
      })
    )
    const first = yield* Effect.forkChild(upload(Host.pixel, png))
    yield* Deferred.await(entered)
    const second = yield* upload(Host.pixel, png)
    errorOf(second, "unavailable")
    assert.strictEqual(second.headers["retry-after"], "1")
    yield* Deferred.succeed(goOn, undefined)
    const answer = yield* Fiber.join(first)
    assert.deepStrictEqual(errorOf(answer, "rate_limited").details, { scope: "uploads" })
    assert.strictEqual(answer.headers["x-should-retry"], "false")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("accepts 16 concurrent uploads of one account, which wait for their turn", () =>
  Effect.gen(function*() {
    const { upload } = yield* open()
    const answers = yield* Effect.all(Array.from({ length: 16 }, () => upload(Host.pixel, png)), {
      concurrency: "unbounded"
    })
    assert.deepStrictEqual(answers.map(({ status }) => status), Array(16).fill(201))
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))
