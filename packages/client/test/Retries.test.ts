import { assert, it } from "@effect/vitest"
import { ConnectionError, ResponseError, TimeoutError } from "../src/KinoraError.ts"
import { job, refusal, rejection, request, scene } from "./Scene.ts"

const models = () => Response.json({ data: [] })
const broken = new TypeError("fetch failed")
const silent = ({ signal }: { readonly signal: AbortSignal }) =>
  new Promise<Response>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)))

it("waits exactly as long as retry-after-ms says, before Retry-After (D27)", async () => {
  const limited = refusal(429, "rate_limited", { "retry-after-ms": "29500", "retry-after": "30" })
  const { asked, kinora } = scene([limited, models()])
  await kinora.models.list()
  assert.deepStrictEqual(asked.map(({ at }) => at), [0, 29_500])
})

it("waits as many seconds as Retry-After says, or until its date by the service's clock", async () => {
  const seconds = refusal(503, "unavailable", { "retry-after": "7" })
  const date = refusal(503, "unavailable", {
    "date": "Sat, 21 Nov 2026 12:00:00 GMT",
    "retry-after": "Sat, 21 Nov 2026 12:00:03 GMT"
  })
  const { asked, kinora } = scene([seconds, date, models()])
  await kinora.models.list()
  assert.deepStrictEqual(asked.map(({ at }) => at), [0, 7_000, 10_000])
})

it("does not wait for a limit of the day: x-should-retry is false (D27)", async () => {
  const daily = refusal(429, "download_limited", { "retry-after-ms": "10", "x-should-retry": "false" })
  const { asked, kinora } = scene([daily])
  const error = await rejection(kinora.generations.content("gen_1"))
  assert.instanceOf(error, ResponseError)
  assert.deepInclude(error, { code: "download_limited", isRetryable: false, retryAfterMillis: 10 })
  assert.strictEqual(asked.length, 1)
})

it("does not wait where the time of the call would not suffice, and says what the service said", async () => {
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
  "does not repeat what a repetition cannot help: %i %s",
  async (status, code) => {
    const { asked, kinora } = scene([refusal(status, code)])
    const error = await rejection(kinora.generations.create(request))
    assert.instanceOf(error, ResponseError)
    assert.strictEqual(error.code, code)
    assert.strictEqual(asked.length, 1)
  }
)

it("waits for a request under way with the same key (D14)", async () => {
  const inProgress = refusal(409, "idempotency_in_progress", { "retry-after-ms": "1000", "retry-after": "1" })
  const { asked, kinora } = scene([inProgress, Response.json(job())])
  await kinora.generations.create(request)
  assert.deepStrictEqual(asked.map(({ at }) => at), [0, 1_000])
})

it("creates again after lost answers and faults with one key, in growing waits, five times at most", async () => {
  const fault = () => refusal(500, "internal_error")
  const { asked, kinora } = scene([broken, fault(), new Response("Bad Gateway", { status: 502 }), fault(), fault()])
  const error = await rejection(kinora.generations.create(request))
  assert.instanceOf(error, ResponseError)
  assert.strictEqual(error.attempts, 5)
  // Half of each wait is chance, which is in the middle here.
  assert.deepStrictEqual(asked.map(({ at }) => at), [0, 375, 1_125, 2_625, 5_625])
  assert.deepStrictEqual(new Set(asked.map(({ headers }) => headers.get("idempotency-key"))), new Set(["key 0"]))
})

it("makes a new key for each call, and the caller's own wins", async () => {
  const { asked, kinora } = scene([1, 2, 3, 4].map(() => Response.json(job())))
  await kinora.generations.create(request)
  await kinora.generations.create(request)
  await kinora.generate(request, { idempotencyKey: "mine" })
  await kinora.images.generate({ model: "kinora-canvas-1", prompt: "a lake" }, { idempotencyKey: "mine too" })
  const keys = asked.map(({ headers }) => headers.get("idempotency-key"))
  assert.deepStrictEqual(keys, ["key 0", "key 1", "mine", "mine too"])
})

it("sends an image again when the service refused it for now, not when its answer was lost", async () => {
  const image = new Uint8Array([0x89, 0x50, 0x4e, 0x47])
  const busy = refusal(503, "unavailable", { "retry-after-ms": "100" })
  const { asked, kinora } = scene([busy, Response.json({ id: "upl_1" }, { status: 201 }), broken])
  assert.strictEqual((await kinora.uploads.create(image)).id, "upl_1")
  assert.strictEqual(asked[1]?.headers.get("content-type"), "image/png")
  assert.instanceOf(await rejection(kinora.uploads.create(image)), ConnectionError)
  assert.strictEqual(asked.length, 3)
})

it("an upload that is gone when it is deleted again was deleted by the attempt before", async () => {
  const gone = () => refusal(404, "upload_not_found")
  const { kinora } = scene([broken, gone(), gone()])
  await kinora.uploads.delete("upl_1")
  assert.instanceOf(await rejection(kinora.uploads.delete("upl_1")), ResponseError)
})

it("waits on for an image that is not ready, however often it must ask (D20)", async () => {
  const pending = () => refusal(504, "generation_pending", { "retry-after-ms": "1000" }, { generation_id: "gen_1" })
  const { asked, kinora } = scene([
    ...Array.from({ length: 9 }, pending),
    Response.json({ created: 1, data: [{ url: "u" }] })
  ])
  const image = await kinora.images.generate({ model: "kinora-canvas-1", prompt: "a lake" })
  assert.deepStrictEqual(image.data, [{ url: "u" }])
  assert.deepStrictEqual(new Set(asked.map(({ headers }) => headers.get("idempotency-key"))), new Set(["key 0"]))
})

it("an image that is not ready in time rejects with generation_pending, which names the job", async () => {
  const pending = () => refusal(504, "generation_pending", { "retry-after-ms": "1000" }, { generation_id: "gen_1" })
  const { kinora } = scene([pending(), pending(), pending()])
  const call = kinora.images.generate({ model: "kinora-canvas-1", prompt: "a lake" }, { timeoutMillis: 2_500 })
  const error = await rejection(call)
  assert.instanceOf(error, ResponseError)
  assert.deepStrictEqual(error.details, { generation_id: "gen_1" })
})

it("asks anew when an attempt is silent for too long, and gives up when the time of the call is used up", async () => {
  const { asked, kinora, time } = scene([silent, silent], { attemptTimeoutMillis: 10_000 })
  const error = await rejection(kinora.models.list({ timeoutMillis: 15_000 }))
  assert.instanceOf(error, TimeoutError)
  assert.strictEqual(time.now(), 15_000)
  assert.deepStrictEqual(asked.map(({ at, signal }) => [at, signal.aborted]), [[0, true], [10_375, true]])
})

it("an answer that breaks off before its end counts as lost", async () => {
  const half = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.error(new TypeError("terminated"))
  })
  const { kinora } = scene([new Response(half), models()])
  assert.deepStrictEqual(await kinora.models.list(), [])
})

it("an abort rejects with its reason, during a request and during a wait, and ends the connection", async () => {
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

it("an abort of what is not sent again rejects with its reason too", async () => {
  const controller = new AbortController()
  const { kinora, time } = scene([silent])
  const reason = new Error("Enough")
  time.after(5_000, () => controller.abort(reason))
  const upload = kinora.uploads.create(new Uint8Array(1), { signal: controller.signal })
  assert.strictEqual(await rejection(upload), reason)
})

it("a call whose signal is aborted already sends nothing", async () => {
  const { asked, kinora } = scene([])
  const signal = AbortSignal.abort(new Error("Enough"))
  assert.strictEqual(await rejection(kinora.models.list({ signal })), signal.reason)
  assert.strictEqual(asked.length, 0)
})
