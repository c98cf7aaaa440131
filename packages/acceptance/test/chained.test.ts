/** Two services: the jobs of the outer one run on the inner one, through the driver `Kinora`. */
import { assert, describe, it } from "@effect/vitest"
import { DefaultModels, type Model } from "@kinora/catalog"
import { Kinora } from "@kinora/client"
import KinoraDriver from "@kinora/generator-http/Kinora"
import { Permanent } from "@kinora/generator/GeneratorError"
import { type RunningHost, TestHost, type TestHostOptions } from "@kinora/host-test"

const model = (options: Partial<Model.ModelInput>): Model.ModelInput => ({ ...DefaultModels.still, ...options })

const innerModel = model({
  id: "inner",
  capabilities: ["text_to_image", "image_to_image"],
  max_reference_images: 2
})
const innerFilm = model({
  id: "inner-film",
  kind: "video",
  capabilities: ["text_to_video", "image_to_video"],
  max_reference_images: 1,
  params_schema: [
    { name: "duration", type: "int", default: 5, min: 2, max: 10 },
    { name: "resolution", type: "string", default: "720p", values: ["480p", "720p"] }
  ],
  price_table: [{ params: { resolution: "480p" }, credits: 20 }, { params: { resolution: "720p" }, credits: 40 }],
  output_formats: ["video/mp4"]
})

/** The model of the outer service whose jobs run on a model of the inner one. */
const outerOf = (inner: Model.ModelInput, id: string): Model.ModelInput => ({
  ...inner,
  id,
  driver: { name: "chain", options: { model: inner.id } }
})
const outerModel = outerOf(innerModel, "outer")

/** A red picture of 16 by 16 pixels. */
const png =
  "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAFklEQVR42mP4z8BAEmIY1TCqYfhqAACQ+f8B8u7oVwAAAABJRU5ErkJggg=="

const pngBytes = new Uint8Array(Buffer.from(png, "base64"))

const clientOf = ({ apiKey, baseUrl, fetch }: RunningHost.RunningHost) => new Kinora({ apiKey, baseUrl, fetch })

/** Starts both services. The inner one listens on this machine, so both run on the machine's time. */
const start = async (
  options: TestHostOptions.TestHostOptions = {},
  change: Partial<Model.ModelInput> = {}
) => {
  const inner = await TestHost.start({ time: "real", models: [innerModel, innerFilm], ...options })
  const chain = { driver: KinoraDriver, options: { base_url: await inner.listen(), api_key: inner.apiKey } }
  const models = [outerModel, outerOf(innerFilm, "outer-film")].map((model) => ({ ...model, ...change }))
  const outer = await TestHost.start({ time: "real", models, drivers: { chain } })
  return { inner, outer, from: clientOf(inner), to: clientOf(outer) }
}

const lake = { plan: "credits", model: "outer", params: { prompt: "a lake", aspect_ratio: "16:9" } } as const
const film = {
  plan: "credits",
  model: "outer-film",
  params: { prompt: "a lake", duration: 2, resolution: "480p" }
} as const
const both = [["image", lake], ["video", film]] as const

/** Jobs of a service, oldest first. */
const jobsOf = async (kinora: Kinora) => (await kinora.generations.page()).data.toReversed()

/** Returns the credits that are left in a service, whose ledger must be consistent. */
const creditsOf = async (host: RunningHost.RunningHost): Promise<number> => {
  const response = await host.fetch("/admin/v1/ledger/verify", { method: "POST", apiKey: host.adminToken })
  const { discrepancies, totals } = await response.json() as {
    readonly discrepancies: ReadonlyArray<unknown>
    readonly totals: { readonly remaining: number }
  }
  assert.deepStrictEqual(discrepancies, [])
  return totals.remaining
}

describe("two chained services", () => {
  it.each(both)("makes the %s of the outer job on the inner service, charged once by each", async (kind, wanted) => {
    const { from, inner, outer, to } = await start()
    await using _inner = inner
    await using _outer = outer
    const before = [await creditsOf(inner), await creditsOf(outer)] as const

    const { bytes, generation } = await to.generate(wanted)
    const [job, ...others] = await jobsOf(from)
    assert.lengthOf(others, 0)
    assert.strictEqual(job?.status, "completed")
    assert.strictEqual(job?.kind, kind)
    assert.deepInclude({ ...job?.params, prompt: job?.prompt }, wanted.params)
    const made = await (await from.generations.content(job?.id ?? "")).arrayBuffer()
    assert.deepStrictEqual(await bytes(), new Uint8Array(made))

    const after = [await creditsOf(inner), await creditsOf(outer)] as const
    assert.strictEqual(before[0] - after[0], job?.cost_credits)
    assert.strictEqual(before[1] - after[1], generation.cost_credits)
  })

  it("delivers the poster of the video, and makes a thumbnail of it", async () => {
    const { inner, outer, to } = await start({ script: { output: { poster: pngBytes } } })
    await using _inner = inner
    await using _outer = outer
    const { generation } = await to.generate(film)
    for (const file of ["poster", "thumb"] as const) {
      const response = await to.generations[file](generation.id)
      assert.match(response.headers.get("content-type") ?? "", /^image\//, file)
      assert.isAbove((await response.arrayBuffer()).byteLength, 0, file)
    }
  })

  it("passes the first frame of a video on", async () => {
    const { from, inner, outer, to } = await start()
    await using _inner = inner
    await using _outer = outer
    await to.generate({ ...film, params: { ...film.params, images: [{ data: png }] } })
    const [job] = await jobsOf(from)
    assert.strictEqual(job?.mode, "image_to_video")
    assert.deepStrictEqual(job?.params.images?.map(({ height, width }) => [width, height]), [[16, 16]])
  })

  it("passes input images on, and the inner service stores them", async () => {
    const { from, inner, outer, to } = await start()
    await using _inner = inner
    await using _outer = outer
    const params = { ...lake.params, images: [{ data: png }, { data: png }] }
    await to.generate({ ...lake, params })
    const [job] = await jobsOf(from)
    assert.strictEqual(job?.mode, "image_to_image")
    assert.deepStrictEqual(job?.params.images?.map(({ height, mime, width }) => [mime, width, height]), [
      ["image/png", 16, 16],
      ["image/png", 16, 16]
    ])
  })

  it.each(both)("fails the %s like the inner job, without its text, and both are refunded", async (_, wanted) => {
    const message = "A secret of the inner service."
    const outcome = new Permanent({ code: "content_rejected", reason: "copyright", message })
    const { from, inner, outer, to } = await start({ script: { outcome } })
    await using _inner = inner
    await using _outer = outer
    const before = [await creditsOf(inner), await creditsOf(outer)]

    const failed = await to.generations.wait((await to.generations.create(wanted)).id)
    assert.strictEqual(failed.error?.code, "content_rejected")
    assert.strictEqual(failed.error?.reason, "copyright")
    assert.notInclude(failed.error?.message, message)
    assert.deepStrictEqual((await jobsOf(from)).map(({ error, refunded }) => [error?.message, refunded]), [[
      message,
      true
    ]])
    assert.deepStrictEqual([await creditsOf(inner), await creditsOf(outer)], before)
  })

  it.each(both)(
    "cancels the inner %s if the outer one exceeds its time limit, and both are refunded",
    async (_, wanted) => {
      const { from, inner, outer, to } = await start({ workers: 0 }, { time_limit: "2 seconds" })
      await using _inner = inner
      await using _outer = outer
      const before = [await creditsOf(inner), await creditsOf(outer)]

      const created = await to.generations.create(wanted)
      const ended = await to.generations.wait(created.id)
      assert.strictEqual(ended.error?.code, "time_limit")
      const [job] = await jobsOf(from)
      assert.strictEqual(await inner.settled(job?.id ?? ""), "cancelled")
      assert.deepStrictEqual([await creditsOf(inner), await creditsOf(outer)], before)
    }
  )

  it.each(both)("fails the outer %s if the inner one is cancelled, and both are refunded", async (_, wanted) => {
    const { from, inner, outer, to } = await start({ workers: 0 })
    await using _inner = inner
    await using _outer = outer
    const before = [await creditsOf(inner), await creditsOf(outer)]

    const { id } = await to.generations.create(wanted)
    // Over the network, since calls in this process would not let the submission through.
    const remote = new Kinora({ apiKey: inner.apiKey, baseUrl: await inner.listen() })
    const submitted = async (): Promise<string> => (await jobsOf(remote))[0]?.id ?? await submitted()
    await remote.generations.cancel(await submitted())
    const ended = await to.generations.wait(id)
    assert.deepStrictEqual([ended.status, ended.error?.code, ended.refunded], ["failed", "upstream_error", true])
    assert.lengthOf(await jobsOf(from), 1)
    assert.deepStrictEqual([await creditsOf(inner), await creditsOf(outer)], before)
  })

  it("does not start the outer service if its model has a parameter that the driver does not pass on", async () => {
    const params_schema = [
      ...outerModel.params_schema,
      { name: "style", type: "string", default: "a", values: ["a"] } as const
    ]
    const failure = await start({}, { params_schema }).then(() => assert.fail("It should not have started"), String)
    assert.include(failure, "models.outer.params_schema")
  })
})
