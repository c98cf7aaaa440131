/** The model list. */
import { expect } from "@effect/vitest"
import * as BrokenUpstream from "./brokenUpstream.ts"
import * as Calls from "./calls.ts"
import type { Define } from "./Suite.ts"

const integer = expect.toSatisfy((value) => Number.isSafeInteger(value))

/** Expected form of each field. */
const fields = {
  "models.id": ["id", expect.stringMatching(/./)],
  "models.name": ["name", expect.stringMatching(/./)],
  "models.kind": ["kind", expect.stringMatching(/^(image|video)$/)],
  "models.studioEligible": ["studio_eligible", expect.any(Boolean)],
  "models.status": ["status", expect.stringMatching(/^(available|degraded|paused)$/)],
  "models.capabilities": ["capabilities", expect.any(Array)],
  "models.maxReferenceImages": ["max_reference_images", integer],
  "models.maxPromptChars": ["max_prompt_chars", integer],
  "models.paramsSchema": ["params_schema", expect.any(Array)],
  "models.priceTable": ["price_table", expect.any(Array)]
} as const

/** Expected fields of the model `picture`. */
const picture: Readonly<Record<string, unknown>> = {
  id: "picture",
  name: "Picture of the test",
  kind: "image",
  studio_eligible: true,
  status: "available",
  capabilities: ["text_to_image", "image_to_image"],
  max_reference_images: 2,
  max_prompt_chars: 1000,
  params_schema: [
    { name: "aspect_ratio", type: "string", default: "1:1", values: ["1:1", "3:2", "2:3", "16:9", "9:16"] },
    { name: "resolution", type: "string", default: "1k", values: ["1k", "2k"] },
    { name: "duration", type: "int", min: 2, max: 4 }
  ],
  price_table: [
    { params: {}, credits: 4 },
    { params: { resolution: "2k" }, credits: 8 },
    { params: { resolution: "2k", aspect_ratio: "16:9" }, credits: 10 }
  ]
}

/** Ids of the default models in earlier versions, their models, and the parameters of jobs without any. */
const aliases = [
  ["kinora-sketch-1", "kinora-draft", { aspect_ratio: "1:1", resolution: "1k" }],
  ["kinora-canvas-1", "kinora-still", { aspect_ratio: "1:1", resolution: "1k" }]
] as const

/** Repaired by the case that uses it. */
const upstream = BrokenUpstream.make()

export const models = ({ holds, inTime }: Define): void => {
  for (const [id, [field, form]] of Object.entries(fields)) {
    // `Object.entries` widens the keys to `string`.
    holds(id as keyof typeof fields, async (stage) => {
      const models = await Calls.listModels(await stage.openAccount())
      expect(models.map((model) => model[field])).toEqual(models.map(() => form))
      expect(models.find(({ id }) => id === "picture")?.[field]).toEqual(picture[field])
    })
  }

  holds(["models.paramsSchema", "models.priceTable"], async (stage) => {
    for (const { params_schema, price_table } of await Calls.listModels(await stage.openAccount())) {
      for (const param of params_schema as ReadonlyArray<Calls.Model>) {
        expect(param).toMatchObject({ name: expect.any(String), type: expect.any(String) })
        const known = new Set(["name", "type", "default", "min", "max", "values"])
        expect(Object.keys(param).filter((name) => !known.has(name))).toEqual([])
      }
      for (const price of price_table as ReadonlyArray<Calls.Model>) {
        expect(price).toEqual({ params: expect.any(Object), credits: integer })
      }
    }
  })

  holds(["models.list", "models.get"], async (stage) => {
    const account = await stage.openAccount()
    const response = await account.send("/v1/models")
    const body = await Calls.jsonOf<{ readonly data: ReadonlyArray<Calls.Model> }>(response)
    expect([response.status, Object.keys(body)]).toEqual([200, ["data"]])
    expect(body.data.find(({ id }) => id === "picture")).toEqual(picture)
    const one = await account.send("/v1/models/picture")
    expect([one.status, await one.json()]).toEqual([200, picture])
    await Calls.refusalOf(await account.send("/v1/models/nobody"), 404, "model_not_found")
  })

  holds("models.alias", async (stage) => {
    const account = await stage.openAccount()
    const ids = new Set((await Calls.listModels(account)).map(({ id }) => id))
    for (const [alias, id, params] of aliases) {
      expect([ids.has(id), ids.has(alias)]).toEqual([true, false])
      const models = [await account.send(`/v1/models/${alias}`), await account.send(`/v1/models/${id}`)]
      const [byAlias, byId] = await Promise.all(models.map((response) => Calls.jsonOf<Calls.Model>(response)))
      expect([byAlias, byAlias?.["id"]]).toEqual([byId, id])
      const job = await Calls.createJob(account, { model: alias })
      expect([job.model, job.params]).toEqual([id, params])
      const image = await Calls.finishedImage(account, { model: alias, plan: "credits", size: "1024x1024" })
      expect([image.status, await image.json()]).toEqual([200, expect.objectContaining({ data: [expect.any(Object)] })])
    }
    const { data } = await Calls.listJobs(account)
    // The image endpoint as well, newest first.
    expect(data.map(({ model, params }) => [model, params])).toEqual(
      aliases.toReversed().flatMap(([, id, params]) => [[id, params], [id, params]])
    )
  })

  inTime(["models.follows", "models.degraded", "models.paused"], async (stage) => {
    const account = await stage.openAccount()
    const status = async () => (await Calls.listModels(account)).map(({ status }) => status)
    const credits = async () => (await Calls.reportOf(account)).plans.credits
    const before = await credits()
    expect(await status()).toEqual(["available"])
    const first = await Calls.createJob(account, { model: "fragile" })
    const second = await Calls.createJob(account, { model: "fragile", params: { prompt: "a hill" } })
    // Longer than a server uses what workers reported before.
    await stage.advance("6 seconds")
    for (const { id } of [first, second]) expect(await Calls.read(account, id)).toMatchObject({ status: "failed" })
    expect(await status()).toEqual(["degraded"])

    await stage.advance("10 seconds")
    expect(await status()).toEqual(["paused"])
    const wish = { model: "fragile", headers: { "idempotency-key": "again" } }
    const refused = await Calls.create(account, wish)
    const retryAfter = Number(refused.headers.get("retry-after"))
    await Calls.refusalOf(refused, 503, "model_unavailable")
    expect(retryAfter).toBe(14)
    expect(await credits()).toEqual(before)

    upstream.repair()
    await stage.advance({ seconds: retryAfter })
    expect(await status()).toEqual(["degraded"])
    const { id } = await Calls.createJob(account, wish)
    await stage.advance("6 seconds")
    expect(await Calls.read(account, id)).toMatchObject({ status: "completed" })
    expect(await status()).toEqual(["available"])
  }, upstream.options)

  holds("models.withdrawn", async (stage) => {
    const account = await stage.openAccount()
    const ids = (await Calls.listModels(account)).map(({ id }) => id)
    expect(ids).toContain("paused")
    expect(ids).not.toContain("withdrawn")
    await Calls.refusalOf(await Calls.create(account, { model: "withdrawn" }), 404, "model_not_found")
    await Calls.refusalOf(await account.send("/v1/models/withdrawn"), 404, "model_not_found")
  })
}
