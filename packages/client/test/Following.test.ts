import { assert, it } from "@effect/vitest"
import { GenerationError, TimeoutError } from "../src/KinoraError.ts"
import type { Generation } from "../src/Wire.ts"
import { collect, job, refusal, rejection, request, scene, unfinished } from "./Scene.ts"

const event = (generation: Generation) => `event: generation\ndata: ${JSON.stringify(generation)}\n\n`
const stream = (body: string | ReadableStream<Uint8Array>) =>
  new Response(body, { headers: { "content-type": "text/event-stream" } })
const sse = (...events: ReadonlyArray<Generation>) => stream(events.map(event).join(""))

interface Time {
  after(millis: number, wake: () => void): unknown
}

/** Responds after some time, as a waiting request does. */
const held = (millis: number, generation: Generation, time: Time) =>
  new Promise<Response>((answer) => {
    time.after(millis, () => answer(Response.json(generation)))
  })

it("waits with one long poll after the other until the job is final", async () => {
  const { asked, kinora, time } = scene([
    () => held(25_000, unfinished("pending"), time),
    () => held(25_000, unfinished(), time),
    () => held(10_000, job(), time)
  ])
  const { status } = await kinora.generations.wait("gen_1")
  assert.strictEqual(status, "completed")
  assert.deepStrictEqual(asked.map(({ at, url }) => [at, url]), [
    [0, "https://api.test/v1/generations/gen_1?wait=25"],
    [25_000, "https://api.test/v1/generations/gen_1?wait=25"],
    [50_000, "https://api.test/v1/generations/gen_1?wait=25"]
  ])
})

it("pauses for the recommended delay if a long poll returns early", async () => {
  const { asked, kinora } = scene([Response.json(unfinished()), Response.json(job())])
  await kinora.generations.wait("gen_1")
  assert.deepStrictEqual(asked.map(({ at }) => at), [0, 5_000])
})

it("continues a wait after the service was unavailable", async () => {
  const away = new TypeError("fetch failed")
  const { kinora } = scene([away, refusal(503, "unavailable", { "retry-after-ms": "2000" }), Response.json(job())])
  assert.strictEqual((await kinora.generations.wait("gen_1")).status, "completed")
})

it("rejects a wait that takes too long with the id of the job", async () => {
  const { kinora, time } = scene(Array.from({ length: 9 }, () => Response.json(unfinished())))
  const error = await rejection(kinora.generations.wait("gen_1", { timeoutMillis: 12_000 }))
  assert.instanceOf(error, TimeoutError)
  assert.strictEqual(error.generationId, "gen_1")
  assert.isAtMost(time.now(), 12_000)
})

it("generate creates a job, waits, and returns a result that is downloaded on demand", async () => {
  const content = () => new Response("picture", { headers: { "content-type": "image/png" } })
  const { asked, kinora } = scene([Response.json(unfinished()), Response.json(job()), content(), content(), content()])
  const { blob, bytes, generation, stream } = await kinora.generate(request)
  assert.strictEqual(generation.status, "completed")
  const picture = stream()
  assert.strictEqual(asked.length, 2)
  assert.strictEqual(await new Response(picture).text(), "picture")
  assert.strictEqual(new TextDecoder().decode(await bytes()), "picture")
  assert.strictEqual((await blob()).type, "image/png")
  assert.strictEqual(asked[4]?.url, "https://api.test/v1/generations/gen_1/content")
})

it("generate rejects with the job if it failed or was cancelled", async () => {
  const error = { code: "content_rejected", message: "No lakes.", reason: "safety" }
  const failed = job({ status: "failed", error, error_code: "content_rejected", refunded: true })
  for (const [ended, code] of [[failed, "content_rejected"], [job({ status: "cancelled" }), "cancelled"]] as const) {
    const { kinora } = scene([Response.json(unfinished()), Response.json(ended)])
    const error = await rejection(kinora.generate(request))
    assert.instanceOf(error, GenerationError)
    assert.deepInclude(error, {
      code,
      generation: ended,
      generationId: "gen_1",
      reason: ended.error?.reason ?? null
    })
  }
})

it("generate reports each change, and an earlier job that has ended", async () => {
  const events = sse(unfinished("pending"), unfinished("queued"), unfinished(), job())
  const { kinora } = scene([Response.json(unfinished("pending")), events, Response.json(job())])
  const seen: Array<string> = []
  const onUpdate = ({ status }: Generation) => seen.push(status)
  await kinora.generate(request, { onUpdate })
  assert.deepStrictEqual(seen, ["pending", "queued", "processing", "completed"])
  await kinora.generate(request, { onUpdate })
  assert.deepStrictEqual(seen.slice(4), ["completed"])
})

it("events reconnect after a broken connection and yield no state twice", async () => {
  const bytes = new TextEncoder().encode(event(unfinished("queued")) + event(unfinished()).slice(0, 40))
  let isSent = false
  const breaking = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      if (isSent) return controller.error(new TypeError("terminated"))
      isSent = true
      controller.enqueue(bytes)
    }
  })
  const { asked, kinora } = scene([
    stream(breaking),
    sse(unfinished("queued"), unfinished()),
    sse(unfinished(), job())
  ])
  const seen = await collect(kinora.generations.events("gen_1"))
  assert.deepStrictEqual(seen.map(({ status }) => status), ["queued", "processing", "completed"])
  assert.deepStrictEqual(asked.map(({ at }) => at), [0, 5_000, 10_000])
  assert.strictEqual(asked[0]?.headers.get("accept"), "text/event-stream")
})

it("leaving the iteration of events ends the connection", async () => {
  const endless = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode(event(unfinished())))
  })
  const { asked, kinora } = scene([stream(endless)])
  for await (const { status } of kinora.generations.events("gen_1")) {
    assert.strictEqual(status, "processing")
    break
  }
  assert.isTrue(asked[0]?.signal.aborted)
})

it("a response that is not an event stream is rejected", async () => {
  for (const answer of [new Response("<html>"), stream("data: <html>\n\n")]) {
    const { kinora } = scene([answer])
    assert.propertyVal(await rejection(collect(kinora.generations.events("gen_1"))), "code", "unknown")
  }
})

it("events of another account's job are rejected", async () => {
  const { kinora } = scene([refusal(404, "not_found")])
  assert.propertyVal(await rejection(collect(kinora.generations.events("gen_1"))), "code", "not_found")
})

it("lists all pages and requests each on demand", async () => {
  const page = (id: string, next_cursor: string | null) => Response.json({ data: [job({ id })], next_cursor })
  const { asked, kinora } = scene([page("gen_2", "c"), page("gen_1", null), page("gen_2", "c")])
  const jobs = await collect(kinora.generations.list({ status: "completed" }))
  assert.deepStrictEqual(jobs.map(({ id }) => id), ["gen_2", "gen_1"])
  assert.deepStrictEqual(asked.map(({ url }) => url), [
    "https://api.test/v1/generations?status=completed&limit=100",
    "https://api.test/v1/generations?status=completed&limit=100&cursor=c"
  ])
  for await (const { id } of kinora.generations.list()) {
    assert.strictEqual(id, "gen_2")
    break
  }
  assert.strictEqual(asked.length, 3)
})

it("an id is encoded as one segment of a path", async () => {
  const { asked, kinora } = scene([Response.json(job()), Response.json(job())])
  await kinora.generations.get("../account?wait=1")
  await kinora.generations.cancel("a/b")
  assert.deepStrictEqual(asked.map(({ method, url }) => `${method} ${url}`), [
    "GET https://api.test/v1/generations/..%2Faccount%3Fwait%3D1",
    "POST https://api.test/v1/generations/a%2Fb/cancel"
  ])
})
