/**
 * Prints the figures of an account one millisecond before and at the edges of days, months, a leap day and the change of the
 * clocks. The zone of the process must make no difference.
 */
import { PlanTable } from "@kinora/accounts"
import { TestHost } from "@kinora/host-test"
import { Schema } from "effect"

/** Ends of UTC days: of months, of a leap day, of a year, and beside changes of the clocks in Berlin and Santiago. */
const edges = [
  "2028-02-29T00:00:00.000Z",
  "2028-03-01T00:00:00.000Z",
  "2028-03-27T00:00:00.000Z",
  "2028-04-03T00:00:00.000Z",
  "2028-09-04T00:00:00.000Z",
  "2029-01-01T00:00:00.000Z"
]

const planTable = Schema.decodeSync(PlanTable.PlanTable)({
  studio: { starter: { quota: { images: 1 } } }
})

const see = async (edge: string) => {
  await using host = await TestHost.start({
    startsAt: new Date(edge).getTime() - 1,
    planTable,
    workers: 0,
    account: { studio: "starter", creditsPlan: null }
  })
  const operator = { apiKey: host.adminToken }
  const json = async (path: string, init: Parameters<typeof host.fetch>[1] = {}, body?: object) => {
    const response = await host.fetch(path, {
      ...init,
      ...(body !== undefined && { body: JSON.stringify(body), headers: { "content-type": "application/json" } })
    })
    return JSON.parse(await response.text() || "null")
  }
  let count = 0
  const create = () => {
    const params = { prompt: `lake ${count++}` }
    return json("/v1/generations", { method: "POST" }, { plan: "studio", model: "kinora-draft", params })
  }
  const quota = async () => {
    const { quota } = (await json("/v1/account")).plans.studio
    return [quota.day, quota.image.used, quota.resets_at].join(" ")
  }

  const keys = `/admin/v1/accounts/${host.account.id}/keys`
  const keyId: string = (await json(keys, operator)).data[0].id
  await json(`${keys}/${keyId}`, { ...operator, method: "PATCH" }, { budget: { jobs_per_day: 9, jobs_per_month: 9 } })
  const jobs = async () => {
    const { day, month } = (await json(keys, operator)).data[0].used
    return `${day.jobs} of ${month.jobs}`
  }

  const first = await create()
  const refused = (await create()).error.details
  const before = await quota()
  const spent = [await jobs()]
  await json(`/admin/v1/accounts/${host.account.id}/deposits`, { ...operator, method: "POST" }, {
    reference: "a",
    usd_cents: 1_000
  })
  const subscription = await json(
    `/admin/v1/accounts/${host.account.id}/plans/credits/subscription`,
    { ...operator, method: "PUT" },
    { tier: "starter" }
  )
  await host.clock.advance("1 milli")
  const after = await quota()
  spent.push(await jobs())
  const second = await create()
  // The refund goes to the day of the charge, so that today's quota stays used up.
  await json(`/v1/generations/${first.id}/cancel`, { method: "POST" })
  spent.push(await jobs())
  const refunded = [await quota(), (await create()).error.code]
  await json(`/v1/generations/${second.id}/cancel`, { method: "POST" })
  const usage = await json(`/v1/usage?from=${edge.slice(0, 10)}&to=${edge.slice(0, 10)}`)
  return {
    refused,
    before,
    after,
    refunded,
    spent,
    again: await quota(),
    cancelled: usage.data.map((row: { day: string; cancelled: number }) => `${row.day} ${row.cancelled}`),
    period_end: subscription.plan.period_end
  }
}

process.stdout.write(`${JSON.stringify(await Promise.all(edges.map(see)))}\n`)
