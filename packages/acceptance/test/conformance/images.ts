/** The image endpoint. */
import { expect } from "@effect/vitest"
import { Duration } from "effect"
import type { Account, Stage } from "../../src/conformance/Stage.ts"
import * as Calls from "./calls.ts"
import type { Job } from "./calls.ts"
import * as Pictures from "./pictures.ts"
import type { Define } from "./Suite.ts"

interface ImageData {
  readonly url?: string
  readonly b64_json?: string
}

interface ImageAnswer {
  readonly created: number
  readonly data: ReadonlyArray<ImageData>
}

/** The image of a response. */
const imageOf = async (response: Response): Promise<ImageData> => {
  const body = await Calls.jsonOf<ImageAnswer>(response)
  expect([response.status, body]).toEqual([200, { created: expect.any(Number), data: [expect.any(Object)] }])
  return body.data[0] ?? {}
}

/** The newest job of the account. */
const newest = async (account: Account): Promise<Job> => {
  const [job] = (await Calls.listJobs(account, "?limit=1")).data
  if (job === undefined) throw new Error("There is no job")
  return job
}

const refused = async (stage: Stage, body: Readonly<Record<string, unknown>>, code = "invalid_params") => {
  const account = await stage.openAccount()
  await Calls.refusalOf(await Calls.image(account, body), 400, code)
  expect(await Calls.creditsOf(account)).toBe(1_000)
}

export const images = (define: Define): void => {
  requests(define)
  answers(define)
  plans(define)
  pending(define)
}

const requests = ({ holds }: Define): void => {
  holds(["conventions.additional", "image-endpoint.user"], async (stage) => {
    const account = await stage.openAccount()
    await imageOf(
      await Calls.image(account, { user: "someone", style: "vivid", background: 7, anything: { at: "all" } })
    )
    expect((await newest(account)).params).toEqual({})
  })

  holds("image-endpoint.model", async (stage) => {
    const account = await stage.openAccount()
    await imageOf(await Calls.image(account))
    expect((await newest(account)).model).toBe("credits-only")
    await Calls.refusalOf(await Calls.image(account, { model: undefined }), 400, "invalid_request")
    await Calls.refusalOf(await Calls.image(account, { model: "nobody" }), 404, "model_not_found")
  })

  holds("image-endpoint.prompt", async (stage) => {
    const account = await stage.openAccount()
    await imageOf(await Calls.image(account, { prompt: "a mountain" }))
    expect((await newest(account)).prompt).toBe("a mountain")
    await Calls.refusalOf(await Calls.image(account, { prompt: undefined }), 400, "invalid_request")
  })

  holds(["image-endpoint.n", "image-endpoint.invalid"], async (stage) => {
    const account = await stage.openAccount()
    await imageOf(await Calls.image(account, { n: 1 }))
    for (const n of [0, 2, -1]) await refused(stage, { n })
  })

  holds("image-endpoint.quality", async (stage) => {
    const account = await stage.openAccount()
    const paramsOf = async (body: Readonly<Record<string, unknown>>) => {
      await imageOf(await Calls.image(account, { plan: "credits", ...body }))
      return (await newest(account)).params
    }
    expect(await paramsOf({ model: "picture", quality: "hd" })).toMatchObject({ resolution: "2k" })
    expect(await paramsOf({ model: "picture", quality: "high", prompt: "b" })).toMatchObject({ resolution: "1k" })
    expect(await paramsOf({ model: "dear", quality: "hd" })).toEqual({})
  })

  holds(["image-endpoint.size", "image-endpoint.auto"], async (stage) => {
    const account = await stage.openAccount({ credits: "business" })
    const ratioOf = async (size?: string) => {
      const body = { model: "picture", plan: "credits", prompt: String(size), ...(size !== undefined && { size }) }
      await imageOf(await Calls.image(account, body))
      return (await newest(account)).params["aspect_ratio"]
    }
    const sizes = {
      "1024x1024": "1:1",
      "1536x1024": "3:2",
      "1792x1024": "16:9",
      "1024x1536": "2:3",
      "1024x1792": "9:16",
      "auto": "1:1",
      "4000x1000": "16:9",
      "1100x1000": "1:1"
    }
    for (const [size, ratio] of Object.entries(sizes)) expect([size, await ratioOf(size)]).toEqual([size, ratio])
    expect(await ratioOf()).toBe("1:1")
  })

  holds(["image-endpoint.size", "image-endpoint.invalid"], async (stage) => {
    for (const size of ["large", "1024", "1024x", "x1024", "1024*1024", "0x1024"]) await refused(stage, { size })
  })

  holds(["image-endpoint.format", "image-endpoint.invalid"], (stage) => refused(stage, { response_format: "png" }))

  holds(["image-endpoint.outputFormat", "image-endpoint.invalid"], async (stage) => {
    const account = await stage.openAccount()
    await imageOf(await Calls.image(account, { output_format: "png" }))
    for (const output_format of ["jpeg", "PNG", ""]) {
      const { message } = await Calls.refusalOf(await Calls.image(account, { output_format }), 400, "invalid_params")
      expect(message).toBe("output_format must be png, the format of this model.")
    }
  })

  holds(["image-endpoint.stream", "image-endpoint.invalid"], (stage) => refused(stage, { stream: true }))

  holds("image-endpoint.video", (stage) => refused(stage, { model: "film", plan: "credits" }, "model_kind_mismatch"))

  holds("image-endpoint.null", async (stage) => {
    const account = await stage.openAccount()
    const nothing = {
      n: null,
      plan: null,
      quality: null,
      response_format: null,
      size: null,
      user: null,
      stream: null,
      style: null
    }
    const { url } = await imageOf(await Calls.image(account, nothing))
    expect(url).toEqual(expect.any(String))
    expect((await newest(account)).plan).toBe("credits")
  })
}

const answers = ({ holds, inTime }: Define): void => {
  holds(["image-endpoint.format", "image-endpoint.url"], async (stage) => {
    const account = await stage.openAccount()
    for (const format of [{}, { response_format: "url", prompt: "b" }]) {
      const { b64_json, url } = await imageOf(await Calls.image(account, format))
      expect(b64_json).toBe(undefined)
      const file = await stage.send(url ?? "/nothing")
      expect([file.status, file.headers.get("content-type")]).toEqual([200, "image/png"])
    }
  })

  holds("image-endpoint.b64Field", async (stage) => {
    const account = await stage.openAccount()
    const { b64_json, url } = await imageOf(await Calls.image(account, { response_format: "b64_json" }))
    expect(url).toBe(undefined)
    const file = await account.send(`/v1/generations/${(await newest(account)).id}/content`)
    expect(b64_json).toBe(Pictures.base64(await file.bytes()))
  })

  holds(["image-endpoint.counts", "image-endpoint.limited"], async (stage) => {
    const account = await stage.openAccount()
    const key = { "idempotency-key": "once" }
    const ask = () => Calls.image(account, { response_format: "b64_json" }, key)
    for (const _ of Calls.numbers(9)) expect((await imageOf(await ask())).b64_json).toEqual(expect.any(String))
    const { id } = await newest(account)
    expect((await account.send(`/v1/generations/${id}/content`, { headers: { range: "bytes=0-0" } })).status).toBe(206)
    expect((await Calls.reportOf(account)).results.download.used_bytes_today).toBe(1)
    const { details } = await Calls.refusalOf(await ask(), 429, "download_limited")
    expect(details["scope"]).toBe("downloads")
  })

  inTime("image-endpoint.first", async (stage) => {
    const account = await stage.openAccount()
    const key = { "idempotency-key": "once" }
    const ask = () => Calls.image(account, { model: "in-a-minute", plan: "credits", response_format: "b64_json" }, key)
    const first = ask()
    await stage.advance("1 second")
    const replays = Calls.numbers(3).map(ask)
    await stage.advance("59 seconds")
    expect((await imageOf(await first)).b64_json).toEqual(expect.any(String))
    // At most one of them was counted before the first response.
    const refused = (await Promise.all(replays)).filter(({ status }) => status === 429)
    expect(refused.length).toBeGreaterThanOrEqual(2)
    await Calls.refusalOf(await ask(), 429, "download_limited")
  }, { http: { resultDownloadMultiple: 1, imageWait: Duration.minutes(2) } })

  holds("image-endpoint.response", async (stage) => {
    const account = await stage.openAccount()
    const expectMeanwhile = Calls.startSpan(stage)
    const response = await Calls.image(account)
    expect(response.headers.get("content-type")).toMatch(/^application\/json\b/)
    const body = await Calls.jsonOf<ImageAnswer>(response)
    expect([Object.keys(body).toSorted(), body.data.length]).toEqual([["created", "data"], 1])
    expect(Number.isSafeInteger(body.created)).toBe(true)
    expectMeanwhile(body.created * 1_000)
  })

  holds("image-endpoint.b64", async (stage) => {
    const account = await stage.openAccount()
    const data = async (body: object) =>
      Object.keys(await imageOf(await Calls.image(account, { model: "answers-b64", plan: "credits", ...body })))
    expect(await data({})).toEqual(["b64_json"])
    expect(await data({ response_format: "url", prompt: "b" })).toEqual(["url"])
  })

  inTime("image-endpoint.url", async (stage) => {
    const account = await stage.openAccount()
    const { url = "" } = await imageOf(await Calls.image(account))
    expect(new URL(url).origin).toBe(stage.baseUrl)
    await stage.advance({ hours: 23, minutes: 59, seconds: 58 })
    expect((await stage.send(url)).status).toBe(200)
    await stage.advance("10 seconds")
    expect((await stage.send(url)).status).toBe(410)
  })

  holds("rate-limit-headers.describe", async (stage) => {
    const account = await stage.openAccount({ credits: "starter" })
    const response = await Calls.image(account)
    expect(response.status).toBe(200)
    expect(Calls.limitOf(response)).toEqual({
      limit: 30,
      remaining: 29,
      reset: expect.toSatisfy((reset) => reset % 60 === 0)
    })
  })

  holds("image-endpoint.clients", async (stage) => {
    const account = await stage.openAccount()
    expect((await Calls.image(account)).status).toBe(200)
    expect((await Calls.listModels(account)).length).toBeGreaterThan(0)
  })

  holds("image-endpoint.only", async (stage) => {
    const account = await stage.openAccount()
    for (const path of ["/v1/images/edits", "/v1/images/variations", "/v1/images"]) {
      await Calls.refusalOf(await account.post(path, { model: "credits-only", prompt: "a" }), 404, "not_found")
    }
    await Calls.refusalOf(await Calls.image(account, { n: 2 }), 400, "invalid_params")
  })
}

const plans = ({ holds }: Define): void => {
  holds(["image-endpoint.plan", "image-endpoint.xPlan"], async (stage) => {
    const account = await stage.openAccount()
    const model = "picture"
    await imageOf(await Calls.image(account, { model, plan: "studio" }))
    expect((await newest(account)).plan).toBe("studio")
    await imageOf(await Calls.image(account, { model, prompt: "b" }, { "x-plan": "credits" }))
    expect((await newest(account)).plan).toBe("credits")
    await imageOf(await Calls.image(account, { model, prompt: "c", plan: "studio" }, { "x-plan": "studio" }))
    expect((await newest(account)).plan).toBe("studio")
    for (
      const response of [
        await Calls.image(account, { plan: "free" }),
        await Calls.image(account, {}, { "x-plan": "free" })
      ]
    ) expect(response.status).toBe(400)
  })

  holds("image-endpoint.conflict", async (stage) => {
    const account = await stage.openAccount()
    const response = await Calls.image(account, { model: "picture", plan: "studio" }, { "x-plan": "credits" })
    await Calls.refusalOf(response, 400, "plan_conflict")
  })

  holds("image-endpoint.required", async (stage) => {
    const account = await stage.openAccount()
    await Calls.refusalOf(await Calls.image(account, { model: "picture" }), 400, "plan_required")
  })

  holds("image-endpoint.creditsModel", async (stage) => {
    const account = await stage.openAccount()
    await imageOf(await Calls.image(account))
    expect([(await newest(account)).plan, await Calls.creditsOf(account)]).toEqual(["credits", 997])
  })

  holds(["idempotency.key", "image-endpoint.repeats"], async (stage) => {
    const account = await stage.openAccount()
    const key = { "idempotency-key": "once" }
    const [first, second] = [
      await imageOf(await Calls.image(account, {}, key)),
      await imageOf(await Calls.image(account, {}, key))
    ]
    const pathOf = ({ url }: ImageData) => new URL(url ?? "http://none").pathname
    expect(pathOf(first)).toBe(pathOf(second))
    expect(await Calls.creditsOf(account)).toBe(997)
    const other = await Calls.image(account, { prompt: "another" }, key)
    await Calls.refusalOf(other, 422, "idempotency_key_reused")
  })

  holds("image-endpoint.failed", async (stage) => {
    const account = await stage.openAccount()
    for (const [model, code] of [["fails", "generation_failed"], ["rejects", "content_rejected"]] as const) {
      const response = await Calls.image(account, { model, plan: "credits" })
      const { details } = await Calls.refusalOf(response, 422, code)
      const { error, id } = await newest(account)
      expect(details).toMatchObject({ generation_id: id, reason: error?.reason ?? null })
    }
    expect(await Calls.creditsOf(account)).toBe(1_000)
  })
}

const pending = ({ holds, inTime }: Define): void => {
  inTime("image-endpoint.waits", async (stage) => {
    const account = await stage.openAccount()
    const asked = Calls.image(account, { model: "in-a-minute", plan: "credits", prompt: "early" })
    await stage.advance("20 seconds")
    const late = Calls.image(account, { model: "in-a-minute", plan: "credits", prompt: "early" })
    await stage.advance("40 seconds")
    await Calls.refusalOf(await asked, 504, "generation_pending")
    expect((await imageOf(await late)).url).toEqual(expect.any(String))
  })

  inTime("image-endpoint.pending", async (stage) => {
    const account = await stage.openAccount()
    const asked = Calls.image(account, { model: "in-a-minute", plan: "credits" })
    const state = { isOver: false }
    const watched = asked.finally(() => {
      state.isOver = true
    })
    await stage.advance("49999 millis")
    expect(state.isOver).toBe(false)
    await stage.advance("1 millis")
    const response = await watched
    expect(Calls.retryOf(response)).toEqual({ seconds: 1, millis: 1_000 })
    const { details } = await Calls.refusalOf(response, 504, "generation_pending")
    const { id, status } = await Calls.read(account, String(details["generation_id"]))
    expect([id, status]).toEqual([details["generation_id"], "processing"])
    await stage.advance("10 seconds")
    expect((await Calls.read(account, id)).status).toBe("completed")
  })

  inTime(["image-endpoint.again", "image-endpoint.reattach"], async (stage) => {
    const account = await stage.openAccount()
    const ask = () => Calls.image(account, { model: "in-140-seconds", plan: "credits" })
    const ids = []
    // As common clients do: two retries after a 504, each one second later.
    for (const _ of Calls.numbers(2)) {
      const asked = ask()
      await stage.advance("50 seconds")
      const { details } = await Calls.refusalOf(await asked, 504, "generation_pending")
      ids.push(details["generation_id"])
      await stage.advance("1 second")
    }
    const last = ask()
    await stage.advance("38 seconds")
    expect((await imageOf(await last)).url).toContain(String(ids[0]))
    expect(ids[1]).toBe(ids[0])
    expect(await Calls.creditsOf(account)).toBe(999)
  })

  holds("image-endpoint.disconnect", async (stage) => {
    const account = await stage.openAccount()
    const left = new AbortController()
    const asked = account.send("/v1/images/generations", {
      method: "POST",
      json: { model: "slow", plan: "credits", prompt: "a lake" },
      signal: left.signal
    }).catch(() => "gone")
    const id = await firstJob(account)
    await Calls.awaitStatus(account, id, "processing")
    left.abort()
    expect(await asked).toBe("gone")
    expect((await Calls.read(account, id)).status).toBe("processing")
  })
}

/** The first job of the account, once it exists. */
const firstJob = async (account: Account): Promise<string> => {
  for (let asked = 0; asked < 200; asked++) {
    const { data } = await Calls.listJobs(account)
    if (data[0] !== undefined) return data[0].id
  }
  throw new Error("No job appears")
}
