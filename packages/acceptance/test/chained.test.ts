/** Two services: the jobs of the outer one run on the inner one, through the driver `Kinora`. */
import { assert, describe, it } from "@effect/vitest"
import { DefaultModels, type Model } from "@kinora/catalog"
import { Kinora } from "@kinora/client"
import KinoraDriver from "@kinora/generator-http/Kinora"
import { Permanent } from "@kinora/generator/GeneratorError"
import { type RunningHost, TestHost, type TestHostOptions } from "@kinora/host-test"

const model = (options: Partial<Model.ModelInput>): Model.ModelInput => ({ ...DefaultModels.canvas, ...options })

const innerModel = model({
  id: "inner",
  capabilities: ["text_to_image", "image_to_image"],
  max_reference_images: 2
})
const outerModel = { ...innerModel, id: "outer", driver: { name: "chain", options: { model: "inner" } } }

/** A red picture of 16 by 16 pixels. */
const png =
  "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAFklEQVR42mP4z8BAEmIY1TCqYfhqAACQ+f8B8u7oVwAAAABJRU5ErkJggg=="

const clientOf = ({ apiKey, baseUrl, fetch }: RunningHost.RunningHost) => new Kinora({ apiKey, baseUrl, fetch })

/** Starts both services. The inner one listens on this machine, so both run on the machine's time. */
const start = async (
  options: TestHostOptions.TestHostOptions = {},
  change: Partial<Model.ModelInput> = {}
) => {
  const inner = await TestHost.start({ time: "real", models: [innerModel], ...options })
  const chain = { driver: KinoraDriver, options: { base_url: await inner.listen(), api_key: inner.apiKey } }
  const outer = await TestHost.start({ time: "real", models: [{ ...outerModel, ...change }], drivers: { chain } })
  return { inner, outer, from: clientOf(inner), to: clientOf(outer) }
}

const lake = { plan: "credits", model: "outer", params: { prompt: "a lake", aspect_ratio: "16:9" } } as const

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
  it("makes the picture of the outer job on the inner service, charged once by each", async () => {
    const { from, inner, outer, to } = await start()
    await using _inner = inner
    await using _outer = outer
    const before = [await creditsOf(inner), await creditsOf(outer)] as const

    const { bytes, generation } = await to.generate(lake)
    const [job, ...others] = await jobsOf(from)
    assert.lengthOf(others, 0)
    assert.strictEqual(job?.status, "completed")
    assert.strictEqual(job?.prompt, "a lake")
    assert.strictEqual(job?.params.aspect_ratio, "16:9")
    const picture = await (await from.generations.content(job?.id ?? "")).arrayBuffer()
    assert.deepStrictEqual(await bytes(), new Uint8Array(picture))

    const after = [await creditsOf(inner), await creditsOf(outer)] as const
    assert.strictEqual(before[0] - after[0], job?.cost_credits)
    assert.strictEqual(before[1] - after[1], generation.cost_credits)
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

  it("fails the outer job like the inner one, without its text, and both are refunded", async () => {
    const message = "A secret of the inner service."
    const outcome = new Permanent({ code: "content_rejected", reason: "copyright", message })
    const { from, inner, outer, to } = await start({ script: { outcome } })
    await using _inner = inner
    await using _outer = outer
    const before = [await creditsOf(inner), await creditsOf(outer)]

    const failed = await to.generations.wait((await to.generations.create(lake)).id)
    assert.strictEqual(failed.error?.code, "content_rejected")
    assert.strictEqual(failed.error?.reason, "copyright")
    assert.notInclude(failed.error?.message, message)
    assert.deepStrictEqual((await jobsOf(from)).map(({ error, refunded }) => [error?.message, refunded]), [[
      message,
      true
    ]])
    assert.deepStrictEqual([await creditsOf(inner), await creditsOf(outer)], before)
  })

  it("cancels the inner job if the outer one exceeds its time limit, and both are refunded", async () => {
    const { from, inner, outer, to } = await start({ workers: 0 }, { time_limit: "2 seconds" })
    await using _inner = inner
    await using _outer = outer
    const before = [await creditsOf(inner), await creditsOf(outer)]

    const created = await to.generations.create(lake)
    const ended = await to.generations.wait(created.id)
    assert.strictEqual(ended.error?.code, "time_limit")
    const [job] = await jobsOf(from)
    assert.strictEqual(await inner.settled(job?.id ?? ""), "cancelled")
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
