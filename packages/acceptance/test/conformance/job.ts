/** The job object: its fields and their values. */
import { expect } from "@effect/vitest"
import type { Account, Stage } from "../../src/conformance/Stage.ts"
import * as Calls from "./calls.ts"
import type { Job } from "./calls.ts"
import * as Pictures from "./pictures.ts"
import type { Define } from "./Suite.ts"

const fields = [
  "id",
  "model",
  "kind",
  "mode",
  "plan",
  "status",
  "prompt",
  "params",
  "cost_credits",
  "quota_kind",
  "watermark",
  "refunded",
  "error_code",
  "error",
  "output",
  "preview_url",
  "thumb_url",
  "poster_url",
  "result_expires_at",
  "queued_at",
  "started_at",
  "finished_at",
  "created_at"
]

const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

/** A case about a completed picture. */
const ofCompleted =
  (test: (job: Job & { readonly output: object }, account: Account) => void) => async (stage: Stage) => {
    const account = await stage.openAccount()
    test(await Calls.completed(account), account)
  }

export const job = ({ holds, inTime }: Define): void => {
  holds("the-job-object.returned", async (stage) => {
    const account = await stage.openAccount({ credits: null })
    const created = await Calls.createJob(account, { model: "slow" })
    const read = await Calls.read(account, created.id)
    // It waits for the slot of the first job.
    const { id } = await Calls.createJob(account)
    const cancelled = await Calls.jsonOf<Job>(await Calls.cancel(account, id))
    for (const job of [created, read, cancelled]) expect(Object.keys(job)).toEqual(expect.arrayContaining(fields))
    expect(read.id).toBe(created.id)
  })

  holds("conventions.documented", async (stage) => {
    const account = await stage.openAccount()
    const wishes: ReadonlyArray<Calls.Wish> = [{}, { model: "film" }, { model: "fails" }, { plan: "studio" }]
    for (const wish of wishes) {
      const { next: _, ...unfinished } = await Calls.createJob(account, wish)
      expect(Object.keys(unfinished).toSorted()).toEqual(fields.toSorted())
      const job = await Calls.awaitEnd(account, unfinished.id)
      expect(Object.keys(job).toSorted()).toEqual(fields.toSorted())
      const allowed = new Set(["aspect_ratio", "duration", "resolution", "images"])
      expect(Object.keys(job.params).filter((name) => !allowed.has(name))).toEqual([])
    }
  })

  holds("the-job-object.id", async (stage) => {
    const account = await stage.openAccount()
    const { id } = await Calls.createJob(account)
    expect(id).toMatch(/^gen_[0-9a-hjkmnp-tv-z]{26}$/)
    expect((await Calls.read(account, id)).id).toBe(id)
  })

  holds("the-job-object.model", ofCompleted((job) => expect(job.model).toBe("picture")))

  holds("the-job-object.kind", async (stage) => {
    const account = await stage.openAccount()
    expect((await Calls.createJob(account)).kind).toBe("image")
    expect((await Calls.createJob(account, { model: "film" })).kind).toBe("video")
  })

  holds(["the-job-object.mode", "parameters.mode"], async (stage) => {
    const account = await stage.openAccount({ credits: "business" })
    const images = [{ data: Pictures.base64(Pictures.png(32, 20)) }]
    const modeOf = async (model: string, params: Calls.Wish["params"]) =>
      (await Calls.createJob(account, { model, params: { prompt: model, ...params } })).mode
    expect([
      await modeOf("picture", {}),
      await modeOf("picture", { mode: "text_to_image", prompt: "named" }),
      await modeOf("picture", { images }),
      await modeOf("film", {}),
      await modeOf("film", { images })
    ]).toEqual(["text_to_image", "text_to_image", "image_to_image", "text_to_video", "image_to_video"])
  })

  holds("the-job-object.plan", async (stage) => {
    const account = await stage.openAccount()
    for (const plan of ["studio", "credits"]) expect((await Calls.createJob(account, { plan })).plan).toBe(plan)
  })

  holds("the-job-object.status", ofCompleted((job) => expect(job.status).toBe("completed")))

  holds("the-job-object.prompt", async (stage) => {
    const account = await stage.openAccount()
    const prompt = "ein See – 湖, 🏞"
    expect((await Calls.createJob(account, { params: { prompt } })).prompt).toBe(prompt)
  })

  holds(["the-job-object.params", "parameters.defaults"], async (stage) => {
    const account = await stage.openAccount()
    const { params } = await Calls.createJob(account, { params: { aspect_ratio: "16:9" } })
    expect(params).toEqual({ aspect_ratio: "16:9", resolution: "1k" })
    expect((await Calls.createJob(account, { model: "film" })).params).toEqual({ aspect_ratio: "1:1", duration: 5 })
  })

  holds(["the-job-object.cost", "conventions.integers"], async (stage) => {
    const account = await stage.openAccount()
    const { cost_credits } = await Calls.createJob(account)
    expect([cost_credits, Number.isSafeInteger(cost_credits)]).toEqual([4, true])
    expect((await Calls.createJob(account, { plan: "studio" })).cost_credits).toBe(null)
  })

  holds("the-job-object.quotaKind", async (stage) => {
    const account = await stage.openAccount()
    expect((await Calls.createJob(account)).quota_kind).toBe(null)
    expect((await Calls.createJob(account, { plan: "studio" })).quota_kind).toBe("image")
    expect((await Calls.createJob(account, { plan: "studio", model: "film" })).quota_kind).toBe("video")
  })

  holds("the-job-object.watermark", async (stage) => {
    const account = await stage.openAccount({
      lots: [{ kind: "trial", credits: 100, hours: 1 }, { kind: "addon", credits: 100, hours: 2 }]
    })
    expect((await Calls.completed(account)).watermark).toBe(false)
    expect((await Calls.completed(account, { plan: "studio" })).watermark).toBe(false)
  })

  holds("the-job-object.refunded", async (stage) => {
    const account = await stage.openAccount()
    expect((await Calls.completed(account)).refunded).toBe(false)
    expect((await Calls.ended(account, { model: "fails" })).refunded).toBe(true)
  })

  holds(["the-job-object.errorCode", "the-job-object.error", "the-job-object.errorFields"], async (stage) => {
    const account = await stage.openAccount()
    expect(await Calls.completed(account)).toMatchObject({ error_code: null, error: null })
    const { error, error_code } = await Calls.ended(account, { model: "rejects" })
    expect(error_code).toBe("content_rejected")
    expect(error).toEqual({
      code: "content_rejected",
      message: expect.stringMatching(/./),
      reason: expect.toSatisfy((reason) => reason === null || typeof reason === "string")
    })
  })

  holds("the-job-object.reason", async (stage) => {
    const account = await stage.openAccount()
    for (const model of ["fails", "rejects"]) {
      const { error } = await Calls.ended(account, { model })
      expect([null, "safety", "copyright", "provider", "internal"]).toContain(error?.reason)
    }
  })

  holds(["the-job-object.output", "the-job-object.outputFields"], async (stage) => {
    const account = await stage.openAccount()
    expect((await Calls.createJob(account, { model: "slow" })).output).toBe(null)
    const { output } = await Calls.completed(account)
    expect(output).toEqual({ url: expect.any(String), mime: "image/png", bytes: 4096, expires_at: time })
    const { searchParams } = new URL(output.url)
    expect([searchParams.get("exp"), searchParams.get("sig")]).toEqual([
      expect.stringMatching(/^\d+$/),
      expect.stringMatching(/^[\w-]+$/)
    ])
  })

  inTime("the-job-object.output", async (stage) => {
    const account = await stage.openAccount()
    const { id } = await Calls.createJob(account, { model: "in-a-minute" })
    expect((await Calls.read(account, id)).output).toBe(null)
    await stage.advance("1 minute")
    expect((await Calls.read(account, id)).output).not.toBe(null)
    await stage.advance("24 hours")
    expect(await Calls.read(account, id)).toMatchObject({
      status: "completed",
      output: null,
      preview_url: null,
      thumb_url: null
    })
  })

  holds(["the-job-object.preview", "the-job-object.thumb"], async (stage) => {
    const account = await stage.openAccount()
    const job = await Calls.completed(account, {
      model: "kinora-still",
      params: { aspect_ratio: "16:9" }
    })
    const sizeOf = async (url: string | null) => Pictures.sizeOf(await (await stage.send(url ?? "/nothing")).bytes())
    const preview = await sizeOf(job.preview_url)
    expect(Math.max(preview.width, preview.height)).toBe(1024)
    const thumb = await sizeOf(job.thumb_url)
    expect(Math.max(thumb.width, thumb.height)).toBe(256)
  })

  holds(["the-job-object.poster", "the-job-object.lifetime"], async (stage) => {
    const account = await stage.openAccount()
    const { output, poster_url, preview_url, thumb_url } = await Calls.completed(account)
    expect(poster_url).toBe(null)
    const expOf = (url: string | null) => new URL(url ?? "http://none").searchParams.get("exp")
    expect([expOf(preview_url), expOf(thumb_url)]).toEqual([expOf(output.url), expOf(output.url)])
    expect((await Calls.createJob(account, { model: "slow" })).thumb_url).toBe(null)
  })

  holds("the-job-object.resultExpiresAt", async (stage) => {
    const account = await stage.openAccount()
    expect((await Calls.createJob(account, { model: "slow" })).result_expires_at).toBe(null)
    const { finished_at, result_expires_at } = await Calls.completed(account)
    const hours = (Date.parse(result_expires_at ?? "") - Date.parse(finished_at ?? "")) / 3_600_000
    expect([result_expires_at, hours]).toEqual([time, 24])
  })

  holds(
    "the-job-object.queuedAt",
    ofCompleted(({ created_at, queued_at }) => {
      expect(queued_at).toEqual(time)
      expect(queued_at).toBe(created_at)
    })
  )

  holds(["the-job-object.startedAt", "the-job-object.finishedAt"], async (stage) => {
    const account = await stage.openAccount()
    expect(await Calls.processing(account)).toMatchObject({ started_at: time, finished_at: null })
    const { created_at, finished_at, started_at } = await Calls.completed(account)
    const times = [created_at, started_at ?? "", finished_at ?? ""]
    expect(times).toEqual([time, time, time])
    expect(times.toSorted()).toEqual(times)
    const { id } = await Calls.createJob(account, { model: "slow", params: { prompt: "waits" } })
    expect((await Calls.read(account, id)).finished_at).toBe(null)
  })

  holds(["the-job-object.createdAt", "conventions.times"], async (stage) => {
    const account = await stage.openAccount()
    const expectMeanwhile = Calls.startSpan(stage)
    const { created_at } = await Calls.createJob(account)
    expect(created_at).toEqual(time)
    expectMeanwhile(Date.parse(created_at))
  })

  holds("the-job-object.next", async (stage) => {
    const account = await stage.openAccount()
    const { id, next } = await Calls.createJob(account)
    expect(next).toEqual({ action: "poll", after_seconds: expect.toSatisfy(Number.isSafeInteger) })
    expect(Object.keys(await Calls.awaitEnd(account, id))).not.toContain("next")
    expect(Object.keys(await Calls.ended(account, { model: "fails" }))).not.toContain("next")
  })

  holds(["the-job-object.afterSeconds", "the-job-object.afterSecondsMax"], async (stage) => {
    const account = await stage.openAccount({ credits: null, studio: "starter" })
    const afterOf = ({ next, status }: Job) => [status, next?.after_seconds]
    expect(afterOf(await Calls.processing(account, { plan: "studio", model: "slow-film" }))).toEqual(["processing", 5])
    expect(afterOf(await Calls.createJob(account, { plan: "studio", model: "slow-film", params: { prompt: "b" } })))
      .toEqual(["pending", 5])
    expect(afterOf(await Calls.processing(account))).toEqual(["processing", 1])
    expect(afterOf(await Calls.createJob(account, { model: "slow", params: { prompt: "b" } }))).toEqual(["pending", 5])
  })

  holds("the-job-object.paramsFields", async (stage) => {
    const account = await stage.openAccount()
    expect((await Calls.createJob(account, { params: { resolution: "2k", duration: 3 } })).params).toEqual({
      aspect_ratio: "1:1",
      resolution: "2k",
      duration: 3
    })
    expect((await Calls.createJob(account, { model: "dear" })).params).toEqual({})
  })

  holds("the-job-object.imageFields", async (stage) => {
    const account = await stage.openAccount()
    const images = [
      { data: Pictures.base64(Pictures.png(32, 20)) },
      { data: Pictures.base64(Pictures.jpeg), mime: "image/jpeg" }
    ]
    const { params } = await Calls.createJob(account, { params: { images } })
    expect(params["images"]).toEqual([
      { index: 0, mime: "image/png", width: 32, height: 20 },
      { index: 1, mime: "image/jpeg", width: 24, height: 16 }
    ])
  })

  holds("the-job-object.poster", async (stage) => {
    const account = await stage.openAccount()
    const job = await Calls.completed(account, { model: "film" })
    expect([job.kind, job.preview_url]).toEqual(["video", null])
    const poster = await stage.send(job.poster_url ?? "/nothing")
    expect([poster.status, poster.headers.get("content-type")]).toEqual([200, expect.stringMatching(/^image\//)])
    expect(Pictures.sizeOf(await poster.bytes()).width).toBeGreaterThan(0)
  })
}
