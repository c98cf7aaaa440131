/**
 * The default models: every mode, parameter and price, on their own generator. Painting takes processor time, so the
 * cases of a host share one job per mode, and the others are rejected.
 */
import { expect } from "@effect/vitest"
import { DefaultModels } from "@kinora/catalog"
import { Media } from "@kinora/media"
import { Duration, Effect } from "effect"
import type { Account, Stage } from "../../src/conformance/Stage.ts"
import * as Calls from "./calls.ts"
import * as Pictures from "./pictures.ts"
import type { Define } from "./Suite.ts"

/** A completed job of each mode, and their account, which has no others. */
interface Painted {
  readonly account: Account
  /** By `kinora-draft`, in Studio. */
  readonly draft: Completed
  /** By `kinora-still` from an upload of 320 x 200 pixels, for credits. */
  readonly still: Completed
  /** By `kinora-motion` from text, in Studio. */
  readonly film: Completed
  /** By `kinora-motion` from an image of 160 x 160 pixels, with its mode, for credits. */
  readonly framed: Completed
}

type Completed = Awaited<ReturnType<typeof Calls.completed>>

const short = { duration: 2, resolution: "480p" } as const

const paint = async (stage: Stage): Promise<Painted> => {
  const account = await stage.openAccount({ studio: "starter", credits: "starter" })
  const uploaded = await account.send("/v1/uploads", {
    method: "POST",
    headers: { "content-type": "image/png" },
    body: Pictures.png(320, 200)
  })
  const { id: upload_id } = await Calls.jsonOf<{ readonly id: string }>(uploaded)
  const data = Pictures.base64(Pictures.png(160, 160))
  const [draft, still, film, framed] = await Promise.all([
    Calls.completed(account, { plan: "studio", model: "kinora-draft", params: { prompt: "a lake at dawn" } }),
    Calls.completed(account, { model: "kinora-still", params: { prompt: "autumn", images: [{ upload_id }] } }),
    Calls.completed(account, {
      plan: "studio",
      model: "kinora-motion",
      params: { prompt: "a city in the rain", ...short }
    }),
    Calls.completed(account, {
      model: "kinora-motion",
      params: { prompt: "mist", mode: "image_to_video", aspect_ratio: "1:1", images: [{ data }], ...short }
    })
  ])
  return { account, draft, film, framed, still }
}

const painted = new WeakMap<Stage, Promise<Painted>>()

/** Returns the jobs of a host. The first case creates them. */
const paintedOn = (stage: Stage): Promise<Painted> => {
  const known = painted.get(stage) ?? paint(stage)
  painted.set(stage, known)
  return known
}

/** Returns the jobs of a host, all of the current day of quotas. Creates them again if midnight has passed. */
const paintedToday = async (stage: Stage): Promise<Painted> => {
  const known = await paintedOn(stage)
  const { quota } = await stateOf(known.account)
  const dayStart = Date.parse(quota.resets_at) - dayMillis
  if ([known.draft, known.film].every(({ created_at }) => Date.parse(created_at) >= dayStart)) return known
  painted.delete(stage)
  return paintedToday(stage)
}

const dayMillis = 86_400_000

/** Kind, mode, parameters and charge of a job. */
const termsOf = ({ cost_credits, kind, mode, model, params, plan, quota_kind }: Completed) => ({
  model,
  kind,
  mode,
  params,
  charge: plan === "studio" ? [quota_kind, cost_credits] : [plan, cost_credits, quota_kind]
})

/** Reads the header of a result. */
const factsOf = (bytes: Uint8Array) =>
  Media.Media.use(({ probe }) =>
    probe({ bytes: bytes.length, read: (start, length) => Effect.succeed(bytes.subarray(start, start + length)) })
  ).pipe(Effect.provide(Media.layer()), Effect.runPromise)

export const defaults = (define: Define): void => {
  modes(define)
  videos(define)
  charges(define)
  rejections(define)
}

const modes = ({ holds }: Define): void => {
  holds(
    ["the-job-object.kind", "the-job-object.mode", "the-job-object.quotaKind", "parameters.mode"],
    async (stage) => {
      const { draft, film, framed, still } = await paintedOn(stage)
      expect([draft, still, film, framed].map(termsOf)).toEqual([
        {
          model: "kinora-draft",
          kind: "image",
          mode: "text_to_image",
          params: { aspect_ratio: "1:1", resolution: "512px" },
          charge: ["image", null]
        },
        {
          model: "kinora-still",
          kind: "image",
          mode: "image_to_image",
          params: {
            aspect_ratio: "1:1",
            resolution: "1k",
            images: [{ index: 0, mime: "image/png", width: 320, height: 200 }]
          },
          charge: ["credits", 8, null]
        },
        {
          model: "kinora-motion",
          kind: "video",
          mode: "text_to_video",
          params: { aspect_ratio: "16:9", ...short },
          charge: ["video", null]
        },
        {
          model: "kinora-motion",
          kind: "video",
          mode: "image_to_video",
          params: {
            aspect_ratio: "1:1",
            images: [{ index: 0, mime: "image/png", width: 160, height: 160 }],
            ...short
          },
          charge: ["credits", 10, null]
        }
      ])
    }
  )

  holds(["models.list", "models.capabilities", "models.priceTable", "models.studioEligible"], async (stage) => {
    const account = await stage.openAccount()
    for (const model of DefaultModels.models) {
      const { capabilities, id, kind, max_prompt_chars, max_reference_images, name, params_schema } = model
      expect(await Calls.jsonOf(await account.send(`/v1/models/${id}`))).toEqual({
        id,
        name,
        kind,
        capabilities,
        max_prompt_chars,
        max_reference_images,
        params_schema,
        price_table: model.price_table,
        status: "available",
        studio_eligible: model.studio_eligible
      })
    }
  })
}

const videos = ({ holds }: Define): void => {
  holds(["parameters.duration", "parameters.resolution", "the-job-object.outputFields"], async (stage) => {
    const { account, draft, film, framed, still } = await paintedOn(stage)
    const sizes = [[film, 854, 480], [framed, 480, 480], [draft, 512, 512], [still, 1024, 1024]] as const
    for (const [{ id, kind, output }, width, height] of sizes) {
      const response = await stage.send(output.url)
      const bytes = await response.bytes()
      expect([response.status, response.headers.get("content-type"), bytes.length]).toEqual([
        200,
        output.mime,
        output.bytes
      ])
      const facts = await factsOf(bytes)
      expect([facts.mime, facts.width, facts.height]).toEqual([output.mime, width, height])
      expect(output.mime).toBe(kind === "video" ? "video/mp4" : "image/png")
      if (facts.kind === "video") {
        expect([Duration.toSeconds(facts.duration), facts.codec]).toEqual([2, "h264"])
      }
      expect(Buffer.from(bytes).toString("latin1")).toContain("no AI model")
      expect(await Calls.read(account, id)).toMatchObject({ status: "completed", refunded: false })
    }
  })

  holds(["the-job-object.poster", "the-job-object.thumb", "the-job-object.preview", "results.files"], async (stage) => {
    const { account, draft, film, framed } = await paintedOn(stage)
    expect([draft.poster_url, film.preview_url, framed.preview_url]).toEqual([null, null, null])
    for (
      const [{ id, output, poster_url, thumb_url }, width, height] of [[film, 854, 480], [framed, 480, 480]] as const
    ) {
      const poster = await stage.send(poster_url ?? "/nothing")
      const bytes = await poster.bytes()
      expect([poster.status, await factsOf(bytes)]).toEqual([
        200,
        expect.objectContaining({ kind: "image", width, height })
      ])
      expect(await (await account.send(`/v1/generations/${id}/poster`)).bytes()).toEqual(bytes)
      const thumb = await stage.send(thumb_url ?? "/nothing")
      const small = await factsOf(await thumb.bytes())
      expect([thumb.status, Math.max(small.width, small.height)]).toEqual([200, 256])
      const expiry = [output.url, poster_url, thumb_url].map((url) => new URL(url ?? "").searchParams.get("exp"))
      expect(new Set(expiry).size).toBe(1)
    }
  })

  holds("image-endpoint.video", async (stage) => {
    const account = await stage.openAccount()
    const response = await Calls.image(account, { model: "kinora-motion", plan: "studio" })
    await Calls.refusalOf(response, 400, "model_kind_mismatch")
    expect(await stateOf(account)).toEqual(await stateOf(await stage.openAccount()))
  })
}

const charges = ({ holds }: Define): void => {
  holds(["account.quota", "studio-quota.day", "usage.grouped", "usage.row"], async (stage) => {
    const { account } = await paintedToday(stage)
    const { credits, quota } = await stateOf(account)
    expect([quota.video, quota.image, credits]).toEqual([
      { limit: 5, used: 1, remaining: 4 },
      { limit: 50, used: 1, remaining: 49 },
      1_000 - 8 - 10
    ])
    const { data, totals } = await Calls.usageOf(account)
    const row = (plan: string, model: string, kind: string, credits: number) =>
      expect.objectContaining({ plan, model, kind, credits, completed: 1, failed: 0, cancelled: 0 })
    expect(data).toEqual([
      row("credits", "kinora-motion", "video", 10),
      row("credits", "kinora-still", "image", 8),
      row("studio", "kinora-draft", "image", 0),
      row("studio", "kinora-motion", "video", 0)
    ])
    expect(totals).toEqual({ completed: 4, credits: 18 })
  })

  holds("lists.kind", async (stage) => {
    const { account, draft, film, framed, still } = await paintedOn(stage)
    const idsOf = async (kind: string) => {
      const { data } = await Calls.listJobs(account, `?kind=${kind}`)
      return data.map(({ id }) => id).toSorted()
    }
    expect(await idsOf("video")).toEqual([film.id, framed.id].toSorted())
    expect(await idsOf("image")).toEqual([draft.id, still.id].toSorted())
  })

  holds(["rejections.quota", "rejections.plan"], async (stage) => {
    const account = await stage.openAccount({ studio: "starter" })
    for (const n of Calls.numbers(5)) {
      await Calls.ended(account, { plan: "studio", model: "film", params: { prompt: `film ${n}` } })
    }
    const refused = await Calls.create(account, { plan: "studio", model: "kinora-motion" })
    const { details, plan } = await Calls.refusalOf(refused, 402, "quota_exceeded")
    const { credits, quota } = await stateOf(account)
    expect([plan, details]).toEqual(["studio", { quota_kind: "video", resets_at: quota.resets_at }])
    expect([quota.video.remaining, quota.image.used, credits]).toEqual([0, 0, 1_000])
    await Calls.createJob(account, { plan: "studio", model: "kinora-draft" })
  })

  holds(["parameters.price", "parameters.defaults", "rejections.credits"], async (stage) => {
    const poor = await stage.openAccount({ lots: [] })
    const priceOf = async (model: string, params: Calls.Wish["params"] = {}) => {
      const { details } = await Calls.refusalOf(
        await Calls.create(poor, { model, params }),
        402,
        "insufficient_credits"
      )
      return details["required"]
    }
    for (const { id, price_table } of DefaultModels.models) {
      for (const { credits, params } of price_table.filter((_, index) => index % 4 === 0)) {
        expect(await priceOf(id, params)).toBe(credits)
      }
    }
    // Four seconds at 720p.
    expect(await priceOf("kinora-motion")).toBe(40)
    expect([await priceOf("kinora-still"), await priceOf("kinora-draft")]).toEqual([8, 1])
    expect((await stateOf(poor)).jobs).toBe(0)
  })

  holds("credit-lots.imagesOnly", async (stage) => {
    const account = await stage.openAccount({ lots: [{ kind: "addon", credits: 200, hours: 1, imagesOnly: true }] })
    const refused = await Calls.create(account, { model: "kinora-motion" })
    const { details } = await Calls.refusalOf(refused, 402, "insufficient_credits")
    expect(details).toEqual({ required: 40, available: 0 })
    await Calls.createJob(account, { model: "kinora-draft" })
  })
}

const rejections = ({ holds }: Define): void => {
  holds([
    "parameters.schema",
    "parameters.capabilities",
    "parameters.issues",
    "order-of-checks.nothing",
    "idempotency.rejected"
  ], async (stage) => {
    const account = await stage.openAccount()
    const before = await stateOf(account)
    const headers = { "idempotency-key": "used by every rejected request" }
    const images = [{ data: Pictures.base64(Pictures.png(32, 20)) }]
    const refused: ReadonlyArray<readonly [model: string, params: Calls.Wish["params"], paths: ReadonlyArray<string>]> =
      [
        ["kinora-motion", { duration: 1 }, ["duration"]],
        ["kinora-motion", { duration: 11 }, ["duration"]],
        ["kinora-motion", { resolution: "4k" }, ["resolution"]],
        ["kinora-motion", { resolution: "1k", aspect_ratio: "3:2", duration: 0 }, [
          "aspect_ratio",
          "duration",
          "resolution"
        ]],
        ["kinora-motion", { mode: "image_to_video" }, ["images"]],
        ["kinora-motion", { mode: "text_to_video", images }, ["images"]],
        ["kinora-motion", { mode: "text_to_image" }, ["mode"]],
        ["kinora-motion", { images: [...images, ...images] }, ["images"]],
        ["kinora-still", { duration: 4 }, ["duration"]],
        ["kinora-still", { resolution: "720p" }, ["resolution"]],
        ["kinora-still", { mode: "image_to_image" }, ["images"]],
        ["kinora-draft", { resolution: "2k" }, ["resolution"]],
        ["kinora-draft", { mode: "image_to_image", images }, ["images", "mode"]],
        ["kinora-draft", { images }, ["images"]]
      ]
    for (const [model, params, paths] of refused) {
      const response = await Calls.create(account, { model, headers, ...(params && { params }) })
      const { details } = await Calls.refusalOf(response, 400, "invalid_params")
      const issues = details["issues"] as ReadonlyArray<{ readonly path: string }>
      expect([...new Set(issues.map(({ path }) => path))].toSorted(), `${model} ${JSON.stringify(params)}`).toEqual(
        paths.map((path) => `params.${path}`)
      )
    }
    // Not a value of the type of the API.
    for (const duration of ["4", 2.5]) {
      const response = await Calls.create(account, { model: "kinora-motion", headers, params: { duration } })
      await Calls.refusalOf(response, 400, "invalid_request")
    }
    expect(await stateOf(account)).toEqual(before)
    expect((await Calls.createJob(account, { model: "kinora-draft", headers })).cost_credits).toBe(1)
  })
}

/** Credits, quota and number of jobs of an account with a Studio plan. */
const stateOf = async (account: Account) => {
  const { plans } = await Calls.reportOf(account)
  const { data } = await Calls.listJobs(account)
  return { credits: await Calls.creditsOf(account), quota: Calls.present(plans.studio.quota), jobs: data.length }
}
