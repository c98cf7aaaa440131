/** The account and the usage report. */
import { expect } from "@effect/vitest"
import * as Calls from "./calls.ts"
import type { Define } from "./Suite.ts"

const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

export const account = (define: Define): void => {
  head(define)
  studio(define)
  credits(define)
  limits(define)
}

export const usage = (define: Define): void => {
  rows(define)
  days(define)
}

const head = ({ holds }: Define): void => {
  holds(["account.get", "account.user", "account.balance", "account.plans"], async (stage) => {
    const account = await stage.openAccount()
    const body = await Calls.reportOf(account)
    expect(Object.keys(body).toSorted()).toEqual(["api", "balance_usd_cents", "plans", "results", "user"])
    expect(body.user).toEqual({ id: account.id, email: account.email })
    expect(body.balance_usd_cents).toBe(0)
    expect(Object.keys(body.plans).toSorted()).toEqual(["credits", "studio"])
  })

  holds("account.keyRpmCap", async (stage) => {
    expect((await Calls.reportOf(await stage.openAccount())).api).toMatchObject({ key_rpm_cap: 300 })
  })

  holds(["account.ttl", "results.window"], async (stage) => {
    const { results } = await Calls.reportOf(await stage.openAccount())
    expect(results).toEqual({ api_ttl_hours: 24, download: expect.any(Object) })
  })

  holds(["account.downloadBytes", "account.multiple", "download-limits.defaults"], async (stage) => {
    const { results } = await Calls.reportOf(await stage.openAccount())
    expect(results.download).toEqual({ user_gib_per_day: 50, used_bytes_today: 0, job_download_multiple: 10 })
  })

  holds("account.usedBytes", async (stage) => {
    const account = await stage.openAccount()
    const { id } = await Calls.completed(account)
    await (await account.send(`/v1/generations/${id}/content`)).bytes()
    expect((await Calls.reportOf(account)).results.download.used_bytes_today).toBe(4096)
  })
}

const studio = ({ holds, inTime }: Define): void => {
  holds("account.planFields", async (stage) => {
    const { plans } = await Calls.reportOf(await stage.openAccount({ studio: "pro" }))
    expect(plans.studio).toEqual({
      active: true,
      tier: "pro",
      period_end: time,
      auto_renew: false,
      quota: expect.any(Object),
      concurrency: 2,
      create_rpm: 40
    })
  })

  holds("account.noQuota", async (stage) => {
    const { plans } = await Calls.reportOf(await stage.openAccount({ studio: null }))
    expect(plans.studio).toEqual({
      active: false,
      tier: null,
      period_end: null,
      auto_renew: false,
      quota: null,
      concurrency: 1,
      create_rpm: 10
    })
  })

  inTime(["account.quota", "studio-quota.day"], async (stage) => {
    const account = await stage.openAccount({ studio: "starter" })
    await Calls.completed(account, { plan: "studio" })
    await Calls.completed(account, { plan: "studio", model: "film" })
    expect((await Calls.reportOf(account)).plans.studio.quota).toEqual({
      day: "2030-01-01",
      resets_at: "2030-01-02T00:00:00.000Z",
      video: { limit: 5, used: 1, remaining: 4 },
      image: { limit: 50, used: 1, remaining: 49 }
    })
    await stage.advance("24 hours")
    expect((await Calls.reportOf(account)).plans.studio.quota).toEqual({
      day: "2030-01-02",
      resets_at: "2030-01-03T00:00:00.000Z",
      video: { limit: 5, used: 0, remaining: 5 },
      image: { limit: 50, used: 0, remaining: 50 }
    })
  })
}

const credits = ({ holds }: Define): void => {
  holds("account.planFields", async (stage) => {
    const { plans } = await Calls.reportOf(await stage.openAccount({ credits: "business" }))
    expect(plans.credits).toEqual({
      active: true,
      tier: "business",
      period_end: time,
      auto_renew: false,
      credits_remaining: 1_000,
      lots: [expect.any(Object)],
      concurrency: 8,
      create_rpm: 120
    })
  })

  holds("account.creditsRemaining", async (stage) => {
    const account = await stage.openAccount({ credits: null })
    const { plans } = await Calls.reportOf(account)
    expect(plans.credits).toMatchObject({ active: false, tier: null, period_end: null, credits_remaining: 1_000 })
    expect((await Calls.create(account)).status).toBe(201)
  })

  holds(["account.lots", "credit-lots.trial"], async (stage) => {
    const account = await stage.openAccount({
      lots: [
        { kind: "trial", credits: 50, hours: 1 },
        { kind: "plan", credits: 7, hours: 2 },
        { kind: "addon", credits: 8, hours: 3, imagesOnly: true },
        { kind: "refund", credits: 9, hours: 4 }
      ]
    })
    const { plans } = await Calls.reportOf(account)
    const lot = (kind: string, remaining: number, watermark: boolean, images_only = false) => ({
      kind,
      remaining,
      expires_at: time,
      images_only,
      watermark
    })
    expect(plans.credits.lots).toEqual([
      lot("trial", 50, true),
      lot("plan", 7, false),
      lot("addon", 8, false, true),
      lot("refund", 9, false)
    ])
    expect(plans.credits.credits_remaining).toBe(24)
    await Calls.refusalOf(await Calls.create(account, { model: "film" }), 402, "insufficient_credits")
  })
}

const limits = ({ holds }: Define): void => {
  holds(["plans-and-credits.returned", "account.planFields"], async (stage) => {
    const account = await stage.openAccount({ studio: "scale", credits: "starter" })
    const { plans } = await Calls.reportOf(account)
    expect([plans.studio.create_rpm, plans.studio.concurrency]).toEqual([80, 4])
    expect([plans.credits.create_rpm, plans.credits.concurrency]).toEqual([30, 2])
    expect(Calls.limitOf(await Calls.create(account, { plan: "studio" })).limit).toBe(80)
    const statuses = []
    for (const n of Calls.numbers(3)) {
      statuses.push((await Calls.createJob(account, { model: "slow", params: { prompt: `lake ${n}` } })).status)
    }
    expect(statuses).toEqual(["queued", "queued", "pending"])
  })
}

const rows = ({ holds }: Define): void => {
  holds(["usage.response", "usage.row", "usage.grouped"], async (stage) => {
    const account = await stage.openAccount()
    const wishes: ReadonlyArray<Calls.Wish> = [
      {},
      { params: { prompt: "b", resolution: "2k" } },
      { model: "fails" },
      { model: "film" },
      { plan: "studio" },
      { plan: "studio", model: "film-fails" }
    ]
    for (const wish of wishes) await Calls.ended(account, wish)
    const { data, from, to, totals } = await Calls.usageOf(account)
    const day = expect.stringMatching(/^\d{4}-\d\d-\d\d$/)
    const row = (plan: string, model: string, kind: string, completed: number, failed: number, credits: number) => ({
      day,
      plan,
      model,
      kind,
      completed,
      failed,
      cancelled: 0,
      credits
    })
    expect([from, to]).toEqual([day, day])
    expect(data).toEqual([
      row("credits", "fails", "image", 0, 1, 0),
      row("credits", "film", "video", 1, 0, 20),
      row("credits", "picture", "image", 2, 0, 12),
      row("studio", "film-fails", "video", 0, 1, 0),
      row("studio", "picture", "image", 1, 0, 0)
    ])
    expect(totals).toEqual({ completed: 4, credits: 32 })
  })

  holds("usage.keys", async (stage) => {
    const account = await stage.openAccount()
    const { id } = await Calls.ended(account)
    const { data: [row, ...others], totals } = await Calls.usageOf(account, "?group_by=key")
    expect(row?.key).toEqual({ id: expect.stringMatching(/^key_[0-9a-z]{26}$/), name: expect.any(String) })
    expect([others, totals]).toEqual([[], { completed: 1, credits: row?.credits }])
    const jobs = await Calls.listJobs(account, `?key=${row?.key?.id}`)
    expect(jobs.data.map(({ id }) => id)).toEqual([id])
  })

  holds("usage.invalid", async (stage) => {
    const account = await stage.openAccount()
    const queries = [
      "from=2026-1-1&to=2026-01-02",
      "from=yesterday",
      "to=2026-02-30",
      "from=2026-01-02&to=2026-01-01",
      "from=2026-01-01&to=2026-02-01",
      "from=",
      "to=2026-01-01T00:00:00Z"
    ]
    for (const query of queries) {
      await Calls.refusalOf(await account.send(`/v1/usage?${query}`), 400, "invalid_range")
    }
  })
}

const days = ({ inTime }: Define): void => {
  inTime(["usage.range", "usage.max"], async (stage) => {
    const account = await stage.openAccount()
    for (const n of Calls.numbers(8)) {
      await Calls.completed(account, { params: { prompt: `lake ${n}` } })
      if (n < 7) await stage.advance("24 hours")
    }
    // It is 8 January.
    const daysOf = async (query: string) => {
      const { data, from, to } = await Calls.usageOf(account, query)
      return [from, to, data.length]
    }
    expect(await daysOf("")).toEqual(["2030-01-02", "2030-01-08", 7])
    expect(await daysOf("?to=2030-01-07")).toEqual(["2030-01-01", "2030-01-07", 7])
    expect(await daysOf("?from=2030-01-05")).toEqual(["2030-01-05", "2030-01-08", 4])
    expect(await daysOf("?from=2030-01-03&to=2030-01-03")).toEqual(["2030-01-03", "2030-01-03", 1])
    expect(await daysOf("?from=2029-12-09&to=2030-01-08")).toEqual(["2029-12-09", "2030-01-08", 8])
    const tooLong = await account.send("/v1/usage?from=2029-12-08&to=2030-01-08")
    await Calls.refusalOf(tooLong, 400, "invalid_range")
  })

  inTime("usage.day", async (stage) => {
    const account = await stage.openAccount()
    await stage.advance({ hours: 23, minutes: 59, seconds: 30 })
    const { created_at, id } = await Calls.createJob(account, { model: "in-a-minute" })
    await stage.advance("1 minute")
    const { finished_at } = await Calls.read(account, id)
    expect([created_at.slice(0, 10), finished_at?.slice(0, 10)]).toEqual(["2030-01-01", "2030-01-02"])
    expect((await Calls.usageOf(account)).data).toEqual([expect.objectContaining({ day: "2030-01-02", completed: 1 })])
  })

  inTime("usage.sorted", async (stage) => {
    const account = await stage.openAccount()
    for (const wish of [{ model: "dear" }, { plan: "studio" }, {}]) await Calls.completed(account, wish)
    await stage.advance("72 hours")
    await Calls.completed(account, { model: "dear", plan: "studio" })
    const { data } = await Calls.usageOf(account)
    expect(data.map(({ day, model, plan }) => [day, plan, model])).toEqual([
      ["2030-01-01", "credits", "dear"],
      ["2030-01-01", "credits", "picture"],
      ["2030-01-01", "studio", "picture"],
      ["2030-01-04", "studio", "dear"]
    ])
  })
}
