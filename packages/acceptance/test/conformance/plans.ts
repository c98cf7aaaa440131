/** Plans, models and parameters: which requests are accepted, and which group is charged. */
import { expect } from "@effect/vitest"
import type { RawClient } from "../../src/RawHttp.ts"
import * as Calls from "./calls.ts"
import type { Define } from "./Suite.ts"

interface Issue {
  readonly path: string
  readonly message: string
}

const issuesOf = async (response: Response): Promise<ReadonlyArray<Issue>> => {
  const { details } = await Calls.refusalOf(response, 400, "invalid_params")
  return details["issues"] as ReadonlyArray<Issue>
}

const pathsOf = async (response: Response) => (await issuesOf(response)).map(({ path }) => path)

export const plans = (define: Define): void => {
  charged(define)
  parameters(define)
}

const charged = ({ holds, inTime }: Define): void => {
  holds("overview.plan", async (stage) => {
    const account = await stage.openAccount()
    await Calls.createJob(account, { plan: "studio" })
    expect(await Calls.creditsOf(account)).toBe(1_000)
    await Calls.createJob(account)
    expect(await Calls.creditsOf(account)).toBe(996)
    expect(await quotaOf(account)).toEqual({ limit: 200, used: 1, remaining: 199 })
  })

  inTime("overview.studio", async (stage) => {
    const account = await stage.openAccount({ studio: "starter" })
    await stage.advance("23 hours")
    await Calls.completed(account, { plan: "studio" })
    await Calls.completed(account, { plan: "studio", model: "film" })
    expect(await quotaOf(account)).toEqual({ limit: 50, used: 1, remaining: 49 })
    expect(await quotaOf(account, "video")).toEqual({ limit: 5, used: 1, remaining: 4 })
    await stage.advance({ minutes: 59, seconds: 59 })
    expect((await quotaOf(account)).used).toBe(1)
    await stage.advance("1 second")
    expect([(await quotaOf(account)).used, (await quotaOf(account, "video")).used]).toEqual([0, 0])
  })

  holds("overview.credits", async (stage) => {
    const account = await stage.openAccount({
      lots: [{ kind: "plan", credits: 3, hours: 1 }, { kind: "addon", credits: 5, hours: 2 }]
    })
    expect(await Calls.creditsOf(account)).toBe(8)
    await Calls.createJob(account)
    expect(await Calls.creditsOf(account)).toBe(4)
  })

  holds(["overview.noSwitch", "overview.otherPlan"], async (stage) => {
    const account = await stage.openAccount({ lots: [] })
    await Calls.refusalOf(await Calls.create(account), 402, "insufficient_credits")
    expect((await quotaOf(account)).used).toBe(0)
    expect((await Calls.create(account, { plan: "studio" })).status).toBe(201)
    const other = await stage.openAccount({ studio: null })
    await Calls.refusalOf(await Calls.create(other, { plan: "studio" }), 402, "plan_inactive")
    expect(await Calls.creditsOf(other)).toBe(1_000)
    expect((await Calls.create(other)).status).toBe(201)
  })

  holds(["rejections.inactive", "rejections.plan"], async (stage) => {
    const account = await stage.openAccount({ studio: null, lots: [] })
    const studio = await Calls.refusalOf(await Calls.create(account, { plan: "studio" }), 402, "plan_inactive")
    const credits = await Calls.refusalOf(await Calls.create(account), 402, "insufficient_credits")
    expect([studio.plan, credits.plan]).toEqual(["studio", "credits"])
  })

  holds("rejections.notInPlan", async (stage) => {
    const account = await stage.openAccount()
    const response = await Calls.create(account, { plan: "studio", model: "credits-only" })
    expect((await Calls.refusalOf(response, 400, "model_not_in_plan")).plan).toBe("studio")
  })

  inTime("rejections.quota", async (stage) => {
    const account = await stage.openAccount({ studio: "starter" })
    await stage.advance("12 hours")
    for (const n of Calls.numbers(5)) {
      await Calls.completed(account, { plan: "studio", model: "film", params: { prompt: `film ${n}` } })
    }
    const response = await Calls.create(account, { plan: "studio", model: "film" })
    const { details, plan } = await Calls.refusalOf(response, 402, "quota_exceeded")
    expect([plan, details]).toEqual(["studio", { quota_kind: "video", resets_at: "2030-01-02T00:00:00.000Z" }])
    expect((await Calls.create(account, { plan: "studio" })).status).toBe(201)
  })

  holds("rejections.credits", async (stage) => {
    const account = await stage.openAccount({ lots: [{ kind: "addon", credits: 9, hours: 1 }] })
    const response = await Calls.create(account, { model: "dear" })
    const { details, plan } = await Calls.refusalOf(response, 402, "insufficient_credits")
    expect([plan, details]).toEqual(["credits", { required: 10, available: 9 }])
  })

  holds("studio-quota.day", async (stage) => {
    for (const [tier, images, videos] of [["starter", 50, 5], ["pro", 200, 20], ["scale", 1000, 100]] as const) {
      const account = await stage.openAccount({ studio: tier })
      expect([(await quotaOf(account)).limit, (await quotaOf(account, "video")).limit]).toEqual([images, videos])
    }
  })

  inTime("renewal.lapses", async (stage) => {
    const account = await stage.openAccount({ planHours: 24, lots: [{ kind: "addon", credits: 10, hours: 48 }] })
    await stage.advance({ hours: 23, minutes: 59, seconds: 59 })
    expect((await Calls.create(account, { plan: "studio" })).status).toBe(201)
    await stage.advance("1 second")
    await Calls.refusalOf(
      await Calls.create(account, { plan: "studio", params: { prompt: "late" } }),
      402,
      "plan_inactive"
    )
    const credits = await Calls.create(account)
    expect([credits.status, Calls.limitOf(credits).limit]).toEqual([201, 10])
  })
}

const parameters = ({ holds }: Define): void => {
  holds("parameters.mode", async (stage) => {
    const account = await stage.openAccount()
    const models = await Calls.listModels(account)
    const capabilities = Object.fromEntries(models.map(({ capabilities, id }) => [id, capabilities]))
    expect(capabilities).toMatchObject({
      "picture": ["text_to_image", "image_to_image"],
      "film": ["text_to_video", "image_to_video"],
      "dear": ["text_to_image"]
    })
  })

  holds("models.degraded", async (stage) => {
    const account = await stage.openAccount()
    expect((await Calls.completed(account, { model: "degraded" })).status).toBe("completed")
  })

  holds("models.paused", async (stage) => {
    const account = await stage.openAccount()
    const response = await Calls.create(account, { model: "paused" })
    await Calls.refusalOf(response.clone(), 503, "model_unavailable")
    Calls.retryOf(response)
  })

  holds("parameters.schema", async (stage) => {
    const account = await stage.openAccount()
    const send = async (params: Calls.Wish["params"], model = "film") =>
      pathsOf(await Calls.create(account, { model, ...(params && { params }) }))
    // A parameter of the API that this model does not have.
    expect(await send({ resolution: "1k" })).toEqual([expect.stringMatching(/resolution$/)])
    expect(await send({ duration: 1 })).toEqual([expect.stringMatching(/duration$/)])
    expect(await send({ duration: 11 })).toEqual([expect.stringMatching(/duration$/)])
    expect(await send({ aspect_ratio: "7:1" })).toEqual([expect.stringMatching(/aspect_ratio$/)])
    const wrongType = await Calls.create(account, { model: "film", params: { duration: "5" } })
    expect([wrongType.status, (await Calls.errorOf(wrongType)).code]).toEqual([
      400,
      expect.stringMatching(/^invalid_(params|request)$/)
    ])
  })

  holds("parameters.prompt", async (stage) => {
    const account = await stage.openAccount()
    const statusOf = async (prompt: string) =>
      (await Calls.create(account, { model: "short-prompt", params: { prompt } })).status
    // Three code points each, of one and two UTF-16 units and of several bytes.
    for (const prompt of ["abc", "äöü", "🏞🏞🏞"]) expect(await statusOf(prompt)).toBe(201)
    for (const prompt of ["abcd", "🏞🏞🏞🏞"]) expect(await statusOf(prompt)).toBe(400)
  })

  holds("parameters.capabilities", async (stage) => {
    const account = await stage.openAccount()
    const images = Calls.numbers(3).map(() => ({ upload_id: "upl_01q3dcbd00evhthzyyqsfhxazr" }))
    expect(await pathsOf(await Calls.create(account, { params: { mode: "text_to_video" } }))).toEqual([
      expect.stringMatching(/mode$/)
    ])
    expect(await pathsOf(await Calls.create(account, { params: { mode: "image_to_image" } }))).toEqual([
      expect.stringMatching(/(mode|images)$/)
    ])
    expect(await pathsOf(await Calls.create(account, { params: { images } }))).toEqual([
      expect.stringMatching(/images$/)
    ])
  })

  holds("parameters.issues", async (stage) => {
    const account = await stage.openAccount()
    const issues = await issuesOf(
      await Calls.create(account, {
        params: { prompt: "x".repeat(1001), aspect_ratio: "7:1", resolution: "8k", duration: 99, mode: "text_to_video" }
      })
    )
    expect(issues.map(({ path }) => path.replace(/^params\./, "")).toSorted()).toEqual([
      "aspect_ratio",
      "duration",
      "mode",
      "prompt",
      "resolution"
    ])
    for (const issue of issues) {
      expect(issue).toEqual({ path: expect.any(String), message: expect.stringMatching(/./) })
    }
  })

  holds("parameters.price", async (stage) => {
    const account = await stage.openAccount()
    const costOf = async (params: Calls.Wish["params"]) =>
      (await Calls.createJob(account, { ...(params && { params }) })).cost_credits
    expect([
      await costOf({}),
      await costOf({ resolution: "2k" }),
      await costOf({ resolution: "2k", aspect_ratio: "16:9" }),
      await costOf({ aspect_ratio: "16:9" })
    ]).toEqual([4, 8, 10, 4])
  })
}

/** Today's quota. */
export const quotaOf = async (account: RawClient, kind: "image" | "video" = "image") => {
  const { plans } = await Calls.reportOf(account)
  return Calls.present(plans.studio.quota)[kind]
}
