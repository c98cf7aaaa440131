/** Creating jobs: request, responses and repeated requests. */
import { expect } from "@effect/vitest"
import * as Calls from "./calls.ts"
import type { Job } from "./calls.ts"
import * as Pictures from "./pictures.ts"
import type { Define } from "./Suite.ts"

const keyed = (key: string) => ({ headers: { "idempotency-key": key } })

/** Paths of the issues of an error. */
const pathsOf = ({ details }: Calls.Refusal): ReadonlyArray<string> =>
  (details["issues"] as ReadonlyArray<{ readonly path: string; readonly message: string }>).map(({ path }) => path)

export const create = (define: Define): void => {
  request(define)
  answers(define)
  repeats(define)
  repeatsInTime(define)
}

const request = ({ holds }: Define): void => {
  holds("create-a-job.plan", async (stage) => {
    const account = await stage.openAccount()
    const { plan: _, ...without } = Calls.bodyOf()
    for (const body of [without, { ...without, plan: "free" }, { ...without, plan: null }]) {
      const refusal = await Calls.refusalOf(
        await account.post("/v1/generations", body),
        400,
        "invalid_request"
      )
      expect(pathsOf(refusal)).toEqual(["plan"])
    }
    expect((await Calls.createJob(account, { plan: "studio" })).plan).toBe("studio")
  })

  holds("create-a-job.model", async (stage) => {
    const account = await stage.openAccount()
    const { model: _, ...without } = Calls.bodyOf()
    const refusal = await Calls.refusalOf(
      await account.post("/v1/generations", without),
      400,
      "invalid_request"
    )
    expect(pathsOf(refusal)).toEqual(["model"])
    await Calls.refusalOf(await Calls.create(account, { model: "nobody" }), 404, "model_not_found")
  })

  holds(["create-a-job.params", "parameters.prompt"], async (stage) => {
    const account = await stage.openAccount()
    const { params: _, ...without } = Calls.bodyOf()
    const send = async (body: object) =>
      pathsOf(
        await Calls.refusalOf(await account.post("/v1/generations", body), 400, "invalid_request")
      )
    expect(await send(without)).toEqual(["params"])
    expect(await send({ ...without, params: {} })).toEqual(["params.prompt"])
    expect(await send({ ...without, params: { prompt: 7 } })).toEqual(["params.prompt"])
  })

  holds("conventions.unknown", async (stage) => {
    const account = await stage.openAccount()
    const data = Pictures.base64(Pictures.png(16, 16))
    const bodies = [
      { ...Calls.bodyOf(), seed: 1 },
      Calls.bodyOf({ params: { seed: 1 } }),
      Calls.bodyOf({ params: { images: [{ data, weight: 1 }] } })
    ]
    const refusals = await Promise.all(
      bodies.map(async (body) =>
        pathsOf(await Calls.refusalOf(await account.post("/v1/generations", body), 400, "invalid_request"))
      )
    )
    expect(refusals).toEqual([["seed"], ["params.seed"], [expect.stringMatching(/images.*weight/)]])
    expect((await Calls.image(account, { seed: 1 })).status).toBe(200)
  })

  holds(["parameters.duration", "parameters.resolution", "parameters.optional"], async (stage) => {
    const account = await stage.openAccount()
    const params = {
      aspect_ratio: "3:2",
      duration: 3,
      mode: "text_to_image",
      resolution: "2k",
      images: null
    }
    const job = await Calls.createJob(account, { params })
    expect(job).toMatchObject({
      mode: "text_to_image",
      params: { aspect_ratio: "3:2", duration: 3, resolution: "2k" }
    })
    expect((await Calls.createJob(account, { params: { images: [] } })).mode).toBe("text_to_image")
  })
}

const answers = ({ holds }: Define): void => {
  holds("authentication.bearer", async (stage) => {
    const account = await stage.openAccount()
    const { id } = await Calls.createJob(account)
    const requests: ReadonlyArray<readonly [method: string, path: string]> = [
      ["POST", "/v1/generations"],
      ["GET", "/v1/generations"],
      ["GET", `/v1/generations/${id}`],
      ["GET", `/v1/generations/${id}/events`],
      ["POST", `/v1/generations/${id}/cancel`],
      ["GET", `/v1/generations/${id}/content`],
      ["POST", "/v1/images/generations"],
      ["POST", "/v1/uploads"],
      ["GET", "/v1/models"],
      ["GET", "/v1/models/picture"],
      ["GET", "/v1/account"],
      ["GET", "/v1/usage"]
    ]
    for (const [method, path] of requests) {
      await Calls.refusalOf(await stage.send(path, { method }), 401, "unauthorized")
    }
    const { output } = await Calls.completed(account, { model: "dear" })
    expect((await stage.send(output.url)).status).toBe(200)
  })

  holds(["create-a-job.created", "job-states.new"], async (stage) => {
    const account = await stage.openAccount()
    const response = await Calls.create(account)
    expect([response.status, response.headers.get("idempotent-replayed")]).toEqual([201, "false"])
    expect(await response.json()).toMatchObject({ status: "queued", prompt: "a lake", model: "picture" })
  })

  holds("create-a-job.location", async (stage) => {
    const account = await stage.openAccount()
    for (const status of [201, 200]) {
      const response = await Calls.create(account)
      const { id } = await Calls.jsonOf<Job>(response)
      expect([response.status, response.headers.get("location")]).toEqual([
        status,
        `${stage.baseUrl}/v1/generations/${id}`
      ])
      expect((await account.send(response.headers.get("location") ?? "")).status).toBe(200)
    }
  })

  holds(["create-a-job.created", "create-a-job.replayed"], async (stage) => {
    const account = await stage.openAccount()
    const replayed = []
    for (const _ of Calls.numbers(3)) replayed.push((await Calls.create(account)).headers.get("idempotent-replayed"))
    expect(replayed).toEqual(["false", "true", "true"])
  })

  holds("rate-limit-headers.describe", async (stage) => {
    const account = await stage.openAccount({ studio: "scale", credits: "starter" })
    const studio = Calls.limitOf(await Calls.create(account, { plan: "studio" }))
    const credits = Calls.limitOf(await Calls.create(account))
    expect([studio.limit, credits.limit]).toEqual([80, 30])
    expect([studio.remaining, credits.remaining]).toEqual([79, 29])
    expect([studio.reset % 60, credits.reset % 60]).toEqual([0, 0])
  })

  holds(["idempotency.charged", "create-a-job.replayed"], async (stage) => {
    const account = await stage.openAccount()
    const first = await Calls.completed(account, keyed("once"))
    const credits = await Calls.creditsOf(account)
    const replay = await Calls.create(account, keyed("once"))
    expect(replay.status).toBe(200)
    expect(replay.headers.get("idempotent-replayed")).toBe("true")
    expect(replay.headers.get("location")).toBe(`${stage.baseUrl}/v1/generations/${first.id}`)
    expect(await replay.json()).toMatchObject({ id: first.id, status: "completed", created_at: first.created_at })
    expect(await Calls.creditsOf(account)).toBe(credits)
  })

  holds("overview.otherPlan", async (stage) => {
    const account = await stage.openAccount({ lots: [], studio: null, credits: null })
    await Calls.refusalOf(await Calls.create(account), 402, "insufficient_credits")
    await Calls.refusalOf(await Calls.create(account, { plan: "studio" }), 402, "plan_inactive")
  })
}

const repeats = ({ holds }: Define): void => {
  holds("idempotency.key", async (stage) => {
    const account = await stage.openAccount()
    const printable = String.fromCharCode(...Calls.numbers(95).map((n) => 0x20 + n)).trim()
    for (const key of ["k", printable, "k".repeat(255)]) {
      expect((await Calls.create(account, keyed(key))).status).toBe(201)
    }
    for (const key of ["", "k".repeat(256), "clé", "a\tb"]) {
      await Calls.refusalOf(await Calls.create(account, keyed(key)), 400, "invalid_idempotency_key")
    }
  })

  holds("idempotency.same", async (stage) => {
    const account = await stage.openAccount()
    const { id } = await Calls.createJob(account, keyed("once"))
    await Calls.awaitEnd(account, id)
    const again = await Calls.jsonOf<Job>(await Calls.create(account, keyed("once")))
    expect([again.id, again.status]).toEqual([id, "completed"])
    expect(await Calls.creditsOf(account)).toBe(996)
  })

  holds("idempotency.variants", async (stage) => {
    const account = await stage.openAccount()
    const ids = await Promise.all(["a", "b", "c"].map(async (key) => (await Calls.createJob(account, keyed(key))).id))
    expect(new Set(ids).size).toBe(3)
  })

  holds("idempotency.scope", async (stage) => {
    const account = await stage.openAccount()
    const other = await stage.openAccount()
    await Calls.createJob(account, keyed("shared"))
    expect((await Calls.create(other, keyed("shared"))).status).toBe(201)
    const elsewhere = await Calls.image(account, {}, { "idempotency-key": "shared" })
    await Calls.refusalOf(elsewhere, 422, "idempotency_key_reused")
  })

  holds("idempotency.reused", async (stage) => {
    const account = await stage.openAccount()
    await Calls.createJob(account, keyed("once"))
    const other = await Calls.create(account, { ...keyed("once"), params: { prompt: "another lake" } })
    await Calls.refusalOf(other, 422, "idempotency_key_reused")
    expect(await Calls.creditsOf(account)).toBe(996)
  })

  holds("idempotency.concurrent", async (stage) => {
    const account = await stage.openAccount()
    const answers = await Promise.all(Calls.numbers(10).map(() => Calls.create(account, keyed("at once"))))
    const jobs = await Promise.all(answers.map((answer) => Calls.jsonOf<Job>(answer)))
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([...Array<number>(9).fill(200), 201])
    expect(new Set(jobs.map(({ id }) => id)).size).toBe(1)
    expect(await Calls.creditsOf(account)).toBe(996)
  })

  holds("idempotency.equal", async (stage) => {
    const account = await stage.openAccount()
    const { id } = await Calls.createJob(account, keyed("once"))
    const same = "{ \"params\":\n{\"prompt\" : \"a l\\u0061ke\"}, \"model\":\"picture\",\t\"plan\":\"credits\" }"
    const again = await account.post("/v1/generations", same, keyed("once").headers)
    expect([again.status, (await Calls.jsonOf<Job>(again)).id]).toEqual([200, id])
  })

  holds("idempotency.apart", async (stage) => {
    const account = await stage.openAccount()
    const { id } = await Calls.createJob(account, { model: "credits-only" })
    expect((await Calls.create(account, { model: "credits-only", ...keyed("named") })).status).toBe(201)
    expect((await Calls.image(account)).status).toBe(200)
    const { data } = await Calls.listJobs(account)
    expect(data.length).toBe(3)
    expect((await Calls.jsonOf<Job>(await Calls.create(account, { model: "credits-only" }))).id).toBe(id)
  })

  holds(["idempotency.rejected", "order-of-checks.nothing"], async (stage) => {
    const account = await stage.openAccount({ lots: [{ kind: "addon", credits: 9, hours: 1 }] })
    const refused = [
      await Calls.create(account, { ...keyed("again"), model: "dear" }),
      await Calls.create(account, { ...keyed("again"), model: "paused" }),
      await Calls.create(account, { ...keyed("again"), params: { aspect_ratio: "7:1" } })
    ]
    expect(refused.map(({ status }) => status)).toEqual([402, 503, 400])
    expect(await Calls.creditsOf(account)).toBe(9)
    expect((await Calls.create(account, keyed("again"))).status).toBe(201)
    expect(await Calls.creditsOf(account)).toBe(5)
  })
}

const repeatsInTime = ({ holds, inTime }: Define): void => {
  holds("idempotency.refunded", async (stage) => {
    const account = await stage.openAccount({ credits: null })
    const failed = await Calls.ended(account, { model: "fails" })
    const afterFailure = await Calls.createJob(account, { model: "fails" })
    expect(afterFailure.id).not.toBe(failed.id)
    await Calls.awaitEnd(account, afterFailure.id)
    await Calls.processing(account)
    const waiting = await Calls.createJob(account)
    await Calls.cancel(account, waiting.id)
    const again = await Calls.createJob(account)
    expect(again.id).not.toBe(waiting.id)
    expect((await Calls.jsonOf<Calls.Job>(await Calls.create(account))).id).toBe(again.id)
  })

  inTime("idempotency.window", async (stage) => {
    const account = await stage.openAccount()
    const { id } = await Calls.createJob(account)
    await stage.advance("60 seconds")
    expect((await Calls.jsonOf<Job>(await Calls.create(account))).id).toBe(id)
    // The window starts with the first request. A replay does not extend it.
    await stage.advance("59999 millis")
    expect((await Calls.jsonOf<Job>(await Calls.create(account))).id).toBe(id)
    await stage.advance("1 millis")
    const fresh = await Calls.create(account)
    expect([fresh.status, fresh.headers.get("idempotent-replayed")]).toEqual([201, "false"])
    expect((await Calls.jsonOf<Job>(fresh)).id).not.toBe(id)
  })

  inTime("idempotency.kept", async (stage) => {
    const account = await stage.openAccount()
    const { id } = await Calls.createJob(account, keyed("once"))
    await stage.advance({ hours: 23, minutes: 59, seconds: 59 })
    expect((await Calls.jsonOf<Job>(await Calls.create(account, keyed("once")))).id).toBe(id)
    await stage.advance("1 second")
    expect((await Calls.create(account, keyed("once"))).status).toBe(201)
  })
}
