/** `@kinora/client` with the whole service, in memory and in virtual time. */
import { assert, describe, it } from "@effect/vitest"
import { DefaultModels, type Model } from "@kinora/catalog"
import { type Generation, GenerationError, Kinora, ResponseError } from "@kinora/client"
import { KinoraClient, layer as layerClient } from "@kinora/client/KinoraClient"
import { type RunningHost, TestHost } from "@kinora/host-test"
import { Effect, Fiber, Layer, Redacted, Stream } from "effect"
import { TestClock } from "effect/testing"

const request = { plan: "credits", model: "kinora-still", params: { prompt: "a lake" } } as const

/** Two calls with this prompt create the same job, so that a test learns the id of the job of `generate`. */
const named = { idempotencyKey: "lake" }

/** One red pixel. */
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC",
  "base64"
)

/** A model that requires input images. */
const editor: Model.ModelInput = {
  ...DefaultModels.still,
  id: "editor",
  capabilities: ["text_to_image", "image_to_image"],
  max_reference_images: 2
}

const clientOf = ({ apiKey, baseUrl, fetch }: RunningHost.RunningHost) => new Kinora({ apiKey, baseUrl, fetch })

const collect = async <A>(iterable: AsyncIterable<A>): Promise<ReadonlyArray<A>> => {
  const all: Array<A> = []
  for await (const one of iterable) all.push(one)
  return all
}

const rejection = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(() => assert.fail("It should have rejected"), (error: unknown) => error)

describe("Kinora", () => {
  it("generates a picture and reads it as a stream, as bytes, by range and by its URL", async () => {
    await using host = await TestHost.start({ procedural: true })
    const kinora = clientOf(host)
    const { blob, bytes, generation, stream } = await kinora.generate(request)
    const picture = await bytes()
    assert.strictEqual(picture.length, generation.output?.bytes)
    assert.deepStrictEqual(new Uint8Array(await new Response(stream()).arrayBuffer()), picture)
    assert.strictEqual((await blob()).type, "image/png")

    const part = await kinora.generations.content(generation.id, { range: { start: 1, end: 3 } })
    assert.strictEqual(part.headers.get("content-range"), `bytes 1-3/${picture.length}`)
    assert.strictEqual(await part.text(), "PNG")
    const tail = await kinora.generations.content(generation.id, { range: { last: 4 } })
    assert.deepStrictEqual(new Uint8Array(await tail.arrayBuffer()), picture.slice(-4))
    const head = await kinora.generations.content(generation.id, { headersOnly: true })
    assert.strictEqual(head.headers.get("content-length"), String(picture.length))
    const ifNoneMatch = head.headers.get("etag") ?? ""
    assert.strictEqual((await kinora.generations.content(generation.id, { ifNoneMatch })).status, 304)

    for (const open of [kinora.generations.preview, kinora.generations.thumb]) {
      assert.match((await open(generation.id)).headers.get("content-type") ?? "", /^image\//)
    }
    assert.propertyVal(await rejection(kinora.generations.poster(generation.id)), "code", "result_not_found")

    const stranger = new Kinora({
      apiKey: null,
      baseUrl: host.baseUrl,
      fetch: (url, init) => host.fetch(url, { ...init, apiKey: null })
    })
    const linked = await stranger.download(generation.output?.url ?? "")
    assert.deepStrictEqual(new Uint8Array(await linked.arrayBuffer()), picture)
  })

  it("waits for a long job over many polls, and is charged once", async () => {
    await using host = await TestHost.start({ script: { delay: "hold" } })
    const kinora = clientOf(host)
    const { id } = await kinora.generations.create(request, named)
    const generated = kinora.generate(request, named)
    await host.generator.started(id)
    await host.clock.advance("4 minutes")
    await host.generator.succeed(id)
    assert.strictEqual((await generated).generation.finished_at, "2030-01-01T00:04:00.000Z")
    assert.deepInclude(await host.ledger.balances(host.account.id), { credits: 992 })
  })

  it("reports each state of a job", async () => {
    await using host = await TestHost.start({ script: { delay: "hold" } })
    const kinora = clientOf(host)
    const seen: Array<Generation> = []
    const { id } = await kinora.generations.create(request, named)
    const generated = kinora.generate(request, { ...named, onUpdate: (generation) => seen.push(generation) })
    await host.generator.started(id)
    await host.clock.advance("1 second")
    await host.generator.succeed(id)
    await generated
    assert.include(["queued", "processing"], seen[0]?.status)
    assert.strictEqual(seen.at(-1)?.status, "completed")
    assert.deepStrictEqual((await collect(kinora.generations.events(id))).map(({ status }) => status), ["completed"])
  })

  it("rejects if the job failed, and the job was refunded", async () => {
    await using host = await TestHost.start({ script: { delay: "hold" } })
    const kinora = clientOf(host)
    const { id } = await kinora.generations.create(request, named)
    const failure = rejection(kinora.generate(request, named))
    await host.generator.fail(id, { code: "content_rejected", reason: "safety" })
    const error = await failure
    assert.instanceOf(error, GenerationError)
    assert.deepInclude(error, { code: "content_rejected", reason: "safety" })
    assert.isTrue(error.generation.refunded)
    assert.deepInclude(await host.ledger.balances(host.account.id), { credits: 1_000 })
  })

  it("repeats a create request whose response was lost, and creates one job", async () => {
    await using host = await TestHost.start()
    let lost = 0
    const fetch = async (url: string, init: RequestInit) => {
      const response = await host.fetch(url, init)
      if (init.method === "POST" && lost++ < 2) throw new TypeError("fetch failed")
      return response
    }
    const kinora = new Kinora({ apiKey: host.apiKey, baseUrl: host.baseUrl, fetch })
    await kinora.generations.create(request)
    assert.strictEqual((await collect(kinora.generations.list())).length, 1)
    await kinora.generations.create(request)
    assert.strictEqual((await collect(kinora.generations.list({ limit: 1 }))).length, 2)
  })

  it("cancels a waiting job and is rejected once it runs", async () => {
    await using host = await TestHost.start({ script: { delay: "hold" }, account: { creditsPlan: null } })
    const kinora = clientOf(host)
    const running = await kinora.generations.create(request)
    await host.generator.started(running.id)
    const waiting = await kinora.generations.create(request)
    assert.strictEqual(waiting.status, "pending")
    assert.strictEqual((await kinora.generations.cancel(waiting.id)).status, "cancelled")
    assert.strictEqual((await kinora.generations.cancel(waiting.id)).status, "cancelled")
    const error: unknown = await rejection(kinora.generations.cancel(running.id))
    assert.instanceOf(error, ResponseError)
    assert.deepInclude(error, { code: "not_cancellable", status: 409, isRetryable: false })
    assert.deepStrictEqual(error.details, { status: "processing" })
    const cancelled = await collect(kinora.generations.list({ status: "cancelled" }))
    assert.deepStrictEqual(cancelled.map(({ id }) => id), [waiting.id])
  })

  it("uploads an image, creates a job with it, and deletes it", async () => {
    await using host = await TestHost.start({ models: [editor] })
    const kinora = clientOf(host)
    const upload = await kinora.uploads.create(png)
    assert.deepInclude(upload, { mime: "image/png", width: 1, height: 1 })
    const streamed = await kinora.uploads.create(new Blob([png]).stream())
    const { generation } = await kinora.generate({
      plan: "credits",
      model: "editor",
      params: { prompt: "a lake", images: [{ upload_id: upload.id }, { upload_id: streamed.id }] }
    })
    assert.strictEqual(generation.mode, "image_to_image")
    assert.strictEqual(generation.params.images?.length, 2)
    await kinora.uploads.delete(upload.id)
    assert.propertyVal(await rejection(kinora.uploads.delete(upload.id)), "code", "upload_not_found")
    const text = new Blob(["no image"])
    assert.propertyVal(await rejection(kinora.uploads.create(text)), "status", 415)
  })

  it("generates an image in one call, as a URL and as base64", async () => {
    await using host = await TestHost.start({ procedural: true })
    const kinora = clientOf(host)
    const wish = { model: "kinora-still", prompt: "a lake" }
    const [linked] = (await kinora.images.generate(wish)).data ?? []
    const picture = await (await kinora.download(linked?.url ?? "")).arrayBuffer()
    const [encoded] = (await kinora.images.generate({ ...wish, response_format: "b64_json" })).data ?? []
    assert.isAbove(picture.byteLength, 0)
    assert.match(encoded?.b64_json ?? "", /^iVBORw0KGgo/)
  })

  it("reports models, the account and its usage", async () => {
    await using host = await TestHost.start()
    const kinora = clientOf(host)
    await kinora.generate(request)
    const models = await kinora.models.list()
    assert.deepStrictEqual(models.map(({ id }) => id), ["kinora-still", "kinora-motion", "kinora-draft"])
    assert.strictEqual((await kinora.models.get("kinora-still")).name, "Kinora Still (procedural)")
    assert.propertyVal(await rejection(kinora.models.get("none")), "code", "model_not_found")
    const { plans, user } = await kinora.account.get()
    assert.strictEqual(user.id, host.account.id)
    assert.strictEqual(plans.credits.credits_remaining, 992)
    const { totals } = await kinora.account.usage({ from: "2030-01-01", to: "2030-01-01" })
    assert.deepStrictEqual(totals, { completed: 1, credits: 8 })
    const refused = await rejection(kinora.account.usage({ from: "2030-02-30" }))
    assert.propertyVal(refused, "code", "invalid_range")
  })

  it("works over a socket", async () => {
    await using host = await TestHost.start()
    const kinora = new Kinora({ apiKey: host.apiKey, baseUrl: await host.listen() })
    const { bytes, generation } = await kinora.generate(request)
    assert.strictEqual((await bytes()).length, generation.output?.bytes)
    const linked = await kinora.download(generation.output?.url ?? "")
    assert.strictEqual((await linked.arrayBuffer()).byteLength, generation.output?.bytes)
  })
})

describe("KinoraClient", () => {
  /** A client of the host's first account, on the clock of the host. */
  const client = Layer.unwrap(Effect.gen(function*() {
    const { account, baseUrl, fetch } = yield* TestHost.TestHost
    return layerClient({ apiKey: Redacted.make(account.apiKey), baseUrl, fetch })
  }))

  it.effect("waits until the next minute after a rate limit", () =>
    Effect.gen(function*() {
      const kinora = yield* KinoraClient
      yield* TestClock.adjust("12 seconds")
      yield* kinora.models.list()
      const fiber = yield* Effect.forkChild(kinora.models.list())
      yield* TestClock.adjust("47 seconds")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* Fiber.join(fiber)).length, 3)
    }).pipe(Effect.provide(client.pipe(Layer.provideMerge(TestHost.layer({ http: { keyRequestsPerMinute: 1 } }))))))

  it.effect("generates a picture and streams it", () =>
    Effect.gen(function*() {
      const kinora = yield* KinoraClient
      const { generation, stream } = yield* kinora.generate(request)
      const length = yield* Stream.runFold(stream, () => 0, (sum, bytes) => sum + bytes.length)
      assert.strictEqual(length, generation.output?.bytes)
      const states = yield* Stream.runCollect(kinora.generations.events(generation.id))
      assert.deepStrictEqual(states.map(({ status }) => status), ["completed"])
    }).pipe(Effect.provide(client.pipe(Layer.provideMerge(TestHost.layer())))))
})
