import { assert, it } from "@effect/vitest"
import { ConnectionError, ResponseError, TimeoutError } from "../src/KinoraError.ts"
import { job, refusal, rejection, request, scene } from "./Scene.ts"

const models = () => Response.json({ data: [] })
const broken = new TypeError("fetch failed")
const silent = ({ signal }: { readonly signal: AbortSignal }) =>
  new Promise<Response>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)))

it("waits for retry-after-ms, which takes precedence over Retry-After", async () => {
  const limited = refusal(429, "rate_limited", { "retry-after-ms": "29500", "retry-after": "30" })
  const { asked, kinora } = scene([limited, models()])
  await kinora.models.list()
  assert.deepStrictEqual(asked.map(({ at }) => at), [0, 29_500])
})

it("waits for the seconds or until the date of Retry-After, by the service's clock", async () => {
  const seconds = refusal(503, "unavailable", { "retry-after": "7" })
  const date = refusal(503, "unavailable", {
    "date": "Sat, 21 Nov 2026 12:00:00 GMT",
    "retry-after": "Sat, 21 Nov 2026 12:00:03 GMT"
  })
  const { asked, kinora } = scene([seconds, date, models()])
  await kinora.models.list()
  assert.deepStrictEqual(asked.map(({ at }) => at), [0, 7_000, 10_000])
})

it("does not retry if x-should-retry is false", async () => {
  const daily = refusal(429, "download_limited", { "retry-after-ms": "10", "x-should-retry": "false" })
  const { asked, kinora } = scene([daily])
  const error = await rejection(kinora.generations.content("gen_1"))
  assert.instanceOf(error, ResponseError)
  assert.deepInclude(error, { code: "download_limited", isRetryable: false, retryAfterMillis: 10 })
  assert.strictEqual(asked.length, 1)
})

it("rejects with the response if the delay would exceed the timeout", async () => {
  const { asked, kinora, time } = scene([refusal(429, "rate_limited", { "retry-after-ms": "60000" })])
  const error = await rejection(kinora.models.list({ timeoutMillis: 60_000 }))
  assert.instanceOf(error, ResponseError)
  assert.strictEqual(asked.length, 1)
  assert.strictEqual(time.now(), 0)
})

it.each([
  [400, "invalid_params"],
  [401, "unauthorized"],
  [402, "quota_exceeded"],
  [404, "not_found"],
  [
    409,
    "not_cancellable"
  ],
  [409, "result_not_ready"],
  [422, "generation_failed"]
])(
  "does not retry %i %s",
  async (status, code) => {
    const { asked, kinora } = scene([refusal(status, code)])
    const error = await rejection(kinora.generations.create(request))
    assert.instanceOf(error, ResponseError)
    assert.strictEqual(error.code, code)
    assert.strictEqual(asked.length, 1)
  }
)

it("retries while another request with the same key is processed", async () => {
  const inProgress = refusal(409, "idempotency_in_progress", { "retry-after-ms": "1000", "retry-after": "1" })
  const { asked, kinora } = scene([inProgress, Response.json(job())])
  await kinora.generations.create(request)
  assert.deepStrictEqual(asked.map(({ at }) => at), [0, 1_000])
})

it("retries a create request with one key and growing delays, five attempts at most", async () => {
  const fault = () => refusal(500, "internal_error")
  const { asked, kinora } = scene([broken, fault(), new Response("Bad Gateway", { status: 502 }), fault(), fault()])
  const error = await rejection(kinora.generations.create(request))
  assert.instanceOf(error, ResponseError)
  assert.strictEqual(error.attempts, 5)
  // Half of each delay is random, and 0.5 here.
  assert.deepStrictEqual(asked.map(({ at }) => at), [0, 375, 1_125, 2_625, 5_625])
  assert.deepStrictEqual(new Set(asked.map(({ headers }) => headers.get("idempotency-key"))), new Set(["key 0"]))
})

it("makes a new key for each call unless the caller gives one", async () => {
  const { asked, kinora } = scene([1, 2, 3, 4].map(() => Response.json(job())))
  await kinora.generations.create(request)
  await kinora.generations.create(request)
  await kinora.generate(request, { idempotencyKey: "mine" })
  await kinora.images.generate({ model: "kinora-still", prompt: "a lake" }, { idempotencyKey: "mine too" })
  const keys = asked.map(({ headers }) => headers.get("idempotency-key"))
  assert.deepStrictEqual(keys, ["key 0", "key 1", "mine", "mine too"])
})

it("retries an upload after a 503 but not after a lost response", async () => {
  const image = new Uint8Array([0x89, 0x50, 0x4e, 0x47])
  const busy = refusal(503, "unavailable", { "retry-after-ms": "100" })
  const { asked, kinora } = scene([busy, Response.json({ id: "upl_1" }, { status: 201 }), broken])
  assert.strictEqual((await kinora.uploads.create(image)).id, "upl_1")
  assert.strictEqual(asked[1]?.headers.get("content-type"), "image/png")
  assert.instanceOf(await rejection(kinora.uploads.create(image)), ConnectionError)
  assert.strictEqual(asked.length, 3)
})

it("succeeds if a retried deletion finds no upload", async () => {
  const gone = () => refusal(404, "upload_not_found")
  const { kinora } = scene([broken, gone(), gone()])
  await kinora.uploads.delete("upl_1")
  assert.instanceOf(await rejection(kinora.uploads.delete("upl_1")), ResponseError)
})

it("repeats the request for an image until the image is ready", async () => {
  const pending = () => refusal(504, "generation_pending", { "retry-after-ms": "1000" }, { generation_id: "gen_1" })
  const { asked, kinora } = scene([
    ...Array.from({ length: 9 }, pending),
    Response.json({ created: 1, data: [{ url: "u" }] })
  ])
  const image = await kinora.images.generate({ model: "kinora-still", prompt: "a lake" })
  assert.deepStrictEqual(image.data, [{ url: "u" }])
  assert.deepStrictEqual(new Set(asked.map(({ headers }) => headers.get("idempotency-key"))), new Set(["key 0"]))
})

it("rejects with generation_pending and the id of the job if the image takes too long", async () => {
  const pending = () => refusal(504, "generation_pending", { "retry-after-ms": "1000" }, { generation_id: "gen_1" })
  const { kinora } = scene([pending(), pending(), pending()])
  const call = kinora.images.generate({ model: "kinora-still", prompt: "a lake" }, { timeoutMillis: 2_500 })
  const error = await rejection(call)
  assert.instanceOf(error, ResponseError)
  assert.deepStrictEqual(error.details, { generation_id: "gen_1" })
})

it("retries a silent attempt and rejects at the timeout of the call", async () => {
  const { asked, kinora, time } = scene([silent, silent], { attemptTimeoutMillis: 10_000 })
  const error = await rejection(kinora.models.list({ timeoutMillis: 15_000 }))
  assert.instanceOf(error, TimeoutError)
  assert.strictEqual(time.now(), 15_000)
  assert.deepStrictEqual(asked.map(({ at, signal }) => [at, signal.aborted]), [[0, true], [10_375, true]])
})

it("retries after a response that breaks off", async () => {
  const half = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.error(new TypeError("terminated"))
  })
  const { kinora } = scene([new Response(half), models()])
  assert.deepStrictEqual(await kinora.models.list(), [])
})

it("rejects with the reason of an abort, during a request and during a delay", async () => {
  const reason = new Error("Enough")
  const limited = refusal(429, "rate_limited", { "retry-after-ms": "60000" })
  for (const answer of [silent, limited]) {
    const controller = new AbortController()
    const { asked, kinora, time } = scene([answer])
    time.after(5_000, () => controller.abort(reason))
    assert.strictEqual(await rejection(kinora.models.list({ signal: controller.signal })), reason)
    assert.strictEqual(time.now(), 5_000)
    assert.isTrue(asked[0]?.signal.aborted)
  }
})

it("rejects with the reason of an abort of an upload", async () => {
  const controller = new AbortController()
  const { kinora, time } = scene([silent])
  const reason = new Error("Enough")
  time.after(5_000, () => controller.abort(reason))
  const upload = kinora.uploads.create(new Uint8Array(1), { signal: controller.signal })
  assert.strictEqual(await rejection(upload), reason)
})

it("sends nothing if the signal is aborted before the call", async () => {
  const { asked, kinora } = scene([])
  const signal = AbortSignal.abort(new Error("Enough"))
  assert.strictEqual(await rejection(kinora.models.list({ signal })), signal.reason)
  assert.strictEqual(asked.length, 0)
})
