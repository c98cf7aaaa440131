/** Budgets of API keys. */
import { expect } from "@effect/vitest"
import type { Account, Stage } from "../../src/conformance/Stage.ts"
import type { RawClient } from "../../src/RawHttp.ts"
import * as Calls from "./calls.ts"
import type { Define } from "./Suite.ts"

/** Price of a `picture` in credits. */
const price = 4

interface Used {
  readonly credits: number
  readonly jobs: number
}

/** Returns what is used of the budgets of the account's keys, oldest key first. */
const usedOf = async (account: Account, stage: Stage) => {
  const { data } = await Calls.get<{
    readonly data: ReadonlyArray<{ readonly used: { readonly day: Used; readonly month: Used } | null }>
  }>(stage.admin, `/admin/v1/accounts/${account.id}/keys`)
  return data.flatMap(({ used }) => used ?? []).toReversed()
}

/** Creates jobs with distinct prompts. Returns the last response. */
const createMany = async (account: Account, count: number, prompt: string): Promise<Response> => {
  let response = await Calls.create(account, { params: { prompt } })
  for (const n of Calls.numbers(count - 1)) {
    response = await Calls.create(account, { params: { prompt: `${prompt} ${n}` } })
  }
  return response
}

const refusalOf = (response: Response) => Calls.refusalOf(response, 429, "key_budget_exceeded")

export const budgets = ({ holds, inTime }: Define): void => {
  holds(["budgets-of-api-keys.refused", "rate-limits.budget"], async (stage) => {
    const account = await stage.openAccount()
    for (const budget of ["credits_per_day", "credits_per_month", "jobs_per_day", "jobs_per_month"]) {
      const limit = budget.startsWith("credits") ? price : 1
      const limited = await Calls.restricted(account, stage, { budget: { [budget]: limit } })
      expect((await Calls.create(limited, { params: { prompt: budget } })).status).toBe(201)
      const before = await Calls.creditsOf(account)
      const wish = { params: { prompt: `${budget} again` }, headers: { "idempotency-key": budget } }
      const { details, plan } = await refusalOf(await Calls.create(limited, wish))
      expect([plan, details]).toEqual(["credits", {
        budget,
        limit,
        used: limit,
        required: limit,
        resets_at: expect.stringMatching(/T00:00:00\.000Z$/)
      }])
      expect(await Calls.creditsOf(account)).toBe(before)
      const image = { model: "credits-only", plan: "credits", prompt: budget }
      await refusalOf(await Calls.image(limited, image))
      // The same request succeeds with another key.
      expect((await Calls.create(account, wish)).status).toBe(201)
    }
  })

  inTime(["budgets-of-api-keys.details", "budgets-of-api-keys.last", "rate-limits.resets"], async (stage) => {
    const account = await stage.openAccount()
    await stage.advance("12 hours")
    const limited = await Calls.restricted(account, stage, {
      budget: { jobs_per_day: 2, credits_per_day: 12, credits_per_month: 13 }
    })
    const day = await createMany(limited, 3, "a day")
    const { details } = await refusalOf(day)
    expect(details).toEqual({
      budget: "jobs_per_day",
      limit: 2,
      used: 2,
      required: 1,
      resets_at: "2030-01-02T00:00:00.000Z"
    })
    expect(Calls.retryOf(day)).toEqual({ seconds: 43_200, millis: 43_200_000 })
    expect(day.headers.get("x-should-retry")).toBe("false")
    const dear = await Calls.create(limited, { model: "dear" })
    expect((await refusalOf(dear)).details).toEqual({
      budget: "credits_per_month",
      limit: 13,
      used: 8,
      required: 10,
      resets_at: "2030-02-01T00:00:00.000Z"
    })
    expect(Calls.retryOf(dear).seconds).toBe(30.5 * 86_400)
  })

  inTime("budgets-of-api-keys.counts", async (stage) => {
    const account = await stage.openAccount()
    const limited = await Calls.restricted(account, stage, { budget: { jobs_per_day: 1, jobs_per_month: 2 } })
    await stage.advance({ days: 28, hours: 23, minutes: 59, seconds: 59 })
    expect((await createMany(limited, 1, "29 January")).status).toBe(201)
    await refusalOf(await createMany(limited, 1, "late"))
    await stage.advance("1 second")
    expect((await createMany(limited, 1, "30 January")).status).toBe(201)
    await stage.advance("1 day")
    expect((await refusalOf(await createMany(limited, 1, "31 January"))).details).toMatchObject({
      budget: "jobs_per_month",
      resets_at: "2030-02-01T00:00:00.000Z"
    })
  })

  holds(["account.keyBudget", "account.keyBudgetUse"], async (stage) => {
    const account = await stage.openAccount()
    const budgetOf = async (holder: RawClient) => (await Calls.reportOf(holder)).api.key_budget
    expect(await budgetOf(account)).toBe(null)
    const limited = await Calls.restricted(account, stage, {
      budget: { credits_per_day: 2 * price, jobs_per_month: 5 }
    })
    const limits = { credits_per_day: 2 * price, credits_per_month: null, jobs_per_day: null, jobs_per_month: 5 }
    const none = { credits: 0, jobs: 0 }
    expect(await budgetOf(limited)).toEqual({ ...limits, used: { day: none, month: none } })
    await Calls.createJob(limited)
    const one = { credits: price, jobs: 1 }
    expect(await budgetOf(limited)).toEqual({ ...limits, used: { day: one, month: one } })
    // The budget of another key of the account does not count.
    expect(await budgetOf(account)).toBe(null)
  })

  holds("budgets-of-api-keys.studio", async (stage) => {
    const account = await stage.openAccount()
    const limited = await Calls.restricted(account, stage, { budget: { credits_per_day: 0, jobs_per_month: 1 } })
    expect((await Calls.create(limited, { plan: "studio" })).status).toBe(201)
    expect((await usedOf(account, stage))[0]?.month).toEqual({ credits: 0, jobs: 1 })
    const { details, plan } = await refusalOf(
      await Calls.create(limited, { plan: "studio", params: { prompt: "another lake" } })
    )
    expect([plan, details["budget"]]).toEqual(["studio", "jobs_per_month"])
  })

  inTime("budgets-of-api-keys.refund", async (stage) => {
    const account = await stage.openAccount()
    const limited = await Calls.restricted(account, stage, { budget: { jobs_per_month: 10 } })
    await stage.advance({ hours: 23, minutes: 59, seconds: 59 })
    const { id } = await Calls.createJob(limited, { model: "slow" })
    await stage.advance("1 second")
    await Calls.createJob(limited)
    expect(await usedOf(account, stage)).toMatchObject([{ day: { jobs: 1 }, month: { jobs: 2 } }])
    await stage.admin.send(`/admin/v1/generations/${id}/fail`, { method: "POST" })
    expect((await Calls.awaitEnd(account, id)).refunded).toBe(true)
    expect(await usedOf(account, stage)).toMatchObject([{ day: { jobs: 1 }, month: { jobs: 1 } }])
  })

  holds("budgets-of-api-keys.exact", async (stage) => {
    const account = await stage.openAccount({ credits: "business" })
    const limited = await Calls.restricted(account, stage, { budget: { credits_per_day: 5 * price } })
    const responses = await Promise.all(
      Calls.numbers(12).map((n) => Calls.create(limited, { params: { prompt: `lake ${n}` } }))
    )
    expect(responses.filter(({ status }) => status === 201).length).toBe(5)
    expect((await usedOf(account, stage))[0]?.day).toEqual({ credits: 5 * price, jobs: 5 })
  })

  holds("budgets-of-api-keys.replay", async (stage) => {
    const account = await stage.openAccount()
    const limited = await Calls.restricted(account, stage, { budget: { jobs_per_month: 1 } })
    const wish = { headers: { "idempotency-key": "once" } }
    const first = await Calls.createJob(limited, wish)
    const again = await Calls.create(limited, wish)
    expect([again.status, (await Calls.jsonOf<Calls.Job>(again)).id]).toEqual([200, first.id])
  })

  holds("budgets-of-api-keys.rolled", async (stage) => {
    const account = await stage.openAccount()
    const keys = `/admin/v1/accounts/${account.id}/keys`
    const limited = await Calls.restricted(account, stage, { budget: { jobs_per_month: 2 } })
    await Calls.createJob(limited)
    const { data } = await Calls.get<
      { readonly data: ReadonlyArray<{ readonly id: string; readonly name: string }> }
    >(stage.admin, keys)
    const { id } = data.find(({ name }) => name === "restricted") ?? { id: "" }
    const { key } = await Calls.jsonOf<{ readonly key: string }>(
      await stage.admin.post(`${keys}/${id}/roll`, {})
    )
    const authorization = { authorization: `Bearer ${key}` }
    const prompts = ["with the new key", "with the new key again"]
    const [second, third] = [
      await Calls.create(account, { headers: authorization, params: { prompt: prompts[0] } }),
      await Calls.create(account, { headers: authorization, params: { prompt: prompts[1] } })
    ]
    expect(second.status).toBe(201)
    await refusalOf(third)
    await refusalOf(await Calls.create(limited, { params: { prompt: "with the former key" } }))
    expect(await usedOf(account, stage)).toMatchObject([{ month: { jobs: 2 } }, { month: { jobs: 2 } }])
  })
}
